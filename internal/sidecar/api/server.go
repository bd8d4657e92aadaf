package api

// Request headers by which a caller says which node it means. A sidecar that is
// somebody else answers 421: pod addresses are reused.
const (
	HeaderNode   = "Sei-Node" // namespace/name of the SeiNode
	HeaderPodUID = "Sei-Pod-Uid"
)

// Level numbers the additions to the v0 API. It grows by one with every addition
// that a caller may want to depend on.
const Level = LevelTLS

// LevelDrain is the level from which on restart-seid takes a time to drain. Older sidecars
// refuse parameters they do not know.
const LevelDrain = 3

// LevelNode is the level from which on GET /v0/node answers, config-apply takes a configHash
// and mark-ready an expectation.
const LevelNode = 4

// LevelGenesis is the level from which on export-genesis is known, and assemble-and-upload-genesis
// takes the hash it should come to and never replaces a genesis that is published.
const LevelGenesis = 5

// LevelResultExport is the level from which on set-result-export is known and the node document
// reports the export.
const LevelResultExport = 6

// LevelPublish is the level from which on publish-snapshots is known, and the node document says
// what was published.
const LevelPublish = 7

// LevelRelease is the level from which on deleting the mark-not-ready task that holds the gate
// releases it, the node document names that task and says that the data was emptied, and seid does
// not start on data that was deleted in part.
const LevelRelease = 8

// LevelUpgrades is the level from which on the node document says which upgrades are applied, needed
// and refused.
const LevelUpgrades = 9

// LevelNodeToken is the level from which on a sidecar whose pod tells it the UID of its node
// accepts tokens of that node's audience alone.
const LevelNodeToken = 10

// LevelTLS is the level from which on a sidecar whose pod gives it a certificate serves its API over
// TLS, and what is not public over nothing else.
const LevelTLS = 11

// PathInSync answers 200 while the node keeps up with its chain and is not about to be
// restarted.
const PathInSync = "/v0/insync"

// DefaultPort is the port that sidecars listen on.
const DefaultPort = 7777

// Version is the body of GET /v0/version.
type Version struct {
	Version   string     `json:"version"`
	APILevel  int        `json:"apiLevel"`
	TaskTypes []TaskType `json:"taskTypes"`
}

// The states in GET /v0/status.
const (
	StatusInitializing = "Initializing"
	StatusReady        = "Ready"
)

// Status is the body of GET /v0/status.
type Status struct {
	Status string `json:"status"`
}

// NodeID is the body of GET /v0/node-id.
type NodeID struct {
	NodeID string `json:"nodeId"`
}
