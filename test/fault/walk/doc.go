// Package walk leads nodes and fleets through random sequences of what users do and what happens to
// them, and wants every sequence to end as if its last spec had been the first.
//
// A walk is data: it is drawn first and run then, so that rapid can make one that fails shorter. After
// every event the invariants S1 to S11 of docs/contributing/soundness.md are checked as far as they can be seen from
// outside; docs/contributing/testing.md says how. In the end the world is put in order, and the objects, the volumes
// and the chain processes have to be what they are in a world in which the last spec was created at
// once; and the operator has to be silent.
package walk
