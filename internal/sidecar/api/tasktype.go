package api

// TaskType names what a task does. The names are the wire contract.
type TaskType string

// The task types of the v0 API.
const (
	SnapshotRestore          TaskType = "snapshot-restore"
	SnapshotUpload           TaskType = "snapshot-upload"
	SnapshotUploadOnce       TaskType = "snapshot-upload-once"
	PublishSnapshots         TaskType = "publish-snapshots"
	ConfigureGenesis         TaskType = "configure-genesis"
	ConfigApply              TaskType = "config-apply"
	ConfigPatch              TaskType = "config-patch"
	ConfigValidate           TaskType = "config-validate"
	ConfigReload             TaskType = "config-reload"
	ConfigureStateSync       TaskType = "configure-state-sync"
	MarkReady                TaskType = "mark-ready"
	MarkNotReady             TaskType = "mark-not-ready"
	StopSeid                 TaskType = "stop-seid"
	RestartSeid              TaskType = "restart-seid"
	ResetData                TaskType = "reset-data"
	AwaitCondition           TaskType = "await-condition"
	GenerateIdentity         TaskType = "generate-identity"
	GenerateGentx            TaskType = "generate-gentx"
	ExportGentx              TaskType = "export-gentx"
	AssembleGenesis          TaskType = "assemble-genesis"
	UploadGenesisArtifacts   TaskType = "upload-genesis-artifacts"
	AssembleAndUploadGenesis TaskType = "assemble-and-upload-genesis"
	ExportGenesis            TaskType = "export-genesis"
	SetGenesisPeers          TaskType = "set-genesis-peers"
	GovVote                  TaskType = "gov-vote"
	GovSoftwareUpgrade       TaskType = "gov-software-upgrade"
	GovParamChange           TaskType = "gov-param-change"
	ResultExport             TaskType = "result-export"
	SetResultExport          TaskType = "set-result-export"
)
