package node

import (
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
)

// passingFor is how long words have to hold before they are worth a write.
const passingFor = 3 * time.Second

// passing holds back statuses that differ from the stored one in words alone: a plan
// that waits for a pod says what it waits for, and most of that is over before anybody
// could read it. What was held back dies with the process; the next one finds its own
// words.
type passing struct{ loop.Sightings }

// withhold reports whether the status of a pass can wait for another look.
func (p *passing) withhold(before, after *v1alpha1.SeiNode, now time.Time) bool {
	key, wordsOnly := client.ObjectKeyFromObject(after), onlyWordsDiffer(&before.Status, &after.Status)
	lasted := p.Lasted(key, wordsOnly, now)
	if wordsOnly && lasted >= passingFor {
		p.Forget(key)
		return false
	}
	return wordsOnly
}

// onlyWordsDiffer reports whether a plan is where it was, and only says so otherwise.
func onlyWordsDiffer(before, after *v1alpha1.SeiNodeStatus) bool {
	if before.Plan == nil || after.Plan == nil || apiequality.Semantic.DeepEqual(before, after) {
		return false
	}
	return apiequality.Semantic.DeepEqual(wordless(before), wordless(after))
}

// wordless is a status without what only people read.
func wordless(status *v1alpha1.SeiNodeStatus) *v1alpha1.SeiNodeStatus {
	bare := status.DeepCopy()
	for i := range bare.Conditions {
		bare.Conditions[i].Reason, bare.Conditions[i].Message = "", ""
	}
	for i := range bare.Plan.Tasks {
		bare.Plan.Tasks[i].Message = ""
	}
	return bare
}
