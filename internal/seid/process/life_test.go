package process_test

import (
	"os"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/process"
)

func TestAt_OwnProcess_TellsAgeAndCPUTime(t *testing.T) {
	self := process.Table{}.At(os.Getpid())
	if self == nil || !self.Alive() || self.StartTicks() == "" {
		t.Fatalf("found %+v, want not nil, Alive true and StartTicks not empty", self)
	}
	if age, ok := self.Age(); !ok || age < -time.Second || age > time.Hour {
		t.Errorf("age %s, %t", age, ok)
	}
	before := self.CPUTime()
	for begin := time.Now(); self.CPUTime() == before; {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the CPU time stands still although this test computes")
		}
	}
	if process.BootID() == "" {
		t.Error("the run of the machine has no id")
	}
}

func TestAt_Nobody_IsNil(t *testing.T) {
	if got := table(t, proc{pid: 7, comm: "seid", state: "Z"}).At(7); got != nil {
		t.Errorf("a zombie is %+v", got)
	}
	if got := table(t).At(7); got != nil {
		t.Errorf("nobody is %+v", got)
	}
}
