package reasons

const (
	ReasonReady    = "Ready"
	ReasonNotReady = "NotReady"
)
