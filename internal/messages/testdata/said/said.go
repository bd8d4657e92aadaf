package said

const (
	reworded  = "a constant of the package"
	ReasonOwn = "Own"
)

type node struct {
	Name string `json:"a name that is no message"`
}

func (n *node) conditions(log logger) []condition {
	log.Info("a line of the log is no message")
	if strings.Contains(n.Name, "what is looked for is no message") {
		return []condition{{ReasonOwn, reworded}}
	}
	set(api.ReasonReady, fmt.Sprintf("block %d of %d, "+
		"in two lines", n.height, n.latest))
	return []condition{{Reason: api.ReasonNotReady, Message: "seid waits: " + n.why()}}
}

func (n *node) why() error {
	return fmt.Errorf("reading %s: %w", n.Name, n.err)
}
