package ceremony

import "testing"

// Every use of every attempt has an id of its own at every member, and always the same one.
func TestMemberID_DiffersByTaskUseAndMember(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range []string{"b7e89c3a-4f12-4d8b-9a6e-1c2d3e4f5a6b", "not a uuid"} {
		for _, use := range []string{"export", "upload"} {
			for _, member := range []string{"val-0", "val-1"} {
				id := memberID(task, use, Member{Name: member})
				if seen[id] || id != memberID(task, use, Member{Name: member}) {
					t.Errorf("%s of %s for %s: %s", use, member, task, id)
				}
				seen[id] = true
			}
		}
	}
}
