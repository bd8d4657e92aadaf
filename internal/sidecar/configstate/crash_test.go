package configstate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func parse(t *testing.T, configToml, appToml string) config.Files {
	t.Helper()
	files, err := config.Parse(map[config.FileName][]byte{config.ConfigToml: []byte(configToml), config.AppToml: []byte(appToml)})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Each case does the first steps of a write and then no more, as a killed process does.
func TestWrite_KilledAtAnyPoint_ShowsTheOldTheNewOrNoName(t *testing.T) {
	oldFiles, newFiles := parse(t, "size = 1\n", "a = 1\n"), parse(t, "size = 2\n", "a = 2\n")
	newDigest, err := newFiles.Digest()
	if err != nil {
		t.Fatal(err)
	}
	half := config.Files{Config: newFiles.Config}
	steps := []struct {
		name string
		run  func(*ledger) error
		want string
		// ends is what the configuration is called after somebody came by.
		ends string
	}{
		{"nothing", func(*ledger) error { return nil }, "old", "old"},
		{"staged", func(l *ledger) error { return l.stage(nextDir, newFiles, nil) }, "old", "old"},
		{"announced", func(l *ledger) error {
			l.Pending = &named{Hash: "new", Digest: newDigest}
			return l.save(l.record)
		}, "old", "new"},
		{"first file", func(l *ledger) error { return config.Write(l.config(), half) }, "", "new"},
		{"all files", func(l *ledger) error { return config.Write(l.config(), newFiles) }, "new", "new"},
		{"settled", func(l *ledger) error {
			l.Current, l.Pending = l.Pending, nil
			return l.save(l.record)
		}, "new", "new"},
	}
	for last := range steps {
		t.Run(steps[last].name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, "config"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := Write(home, oldFiles, "old"); err != nil {
				t.Fatal(err)
			}
			err := change(home, func(l *ledger) error {
				for _, s := range steps[:last+1] {
					if err := s.run(l); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Read(home); err != nil || got.ConfigHash != steps[last].want {
				t.Errorf("after the kill the configuration is called %q (%v), want %q", got.ConfigHash, err, steps[last].want)
			}
			_ = MayStart(home, "v1") // the next one to come by
			if got, err := Read(home); err != nil || got.ConfigHash != steps[last].ends {
				t.Errorf("later it is called %q (%v), want %q", got.ConfigHash, err, steps[last].ends)
			}
			if err := Write(home, newFiles, "new"); err != nil {
				t.Fatal(err)
			}
			if got, err := Read(home); err != nil || got.ConfigHash != "new" || got.Digest != newDigest {
				t.Errorf("the repeated write ends with %+v (%v)", got, err)
			}
		})
	}
}
