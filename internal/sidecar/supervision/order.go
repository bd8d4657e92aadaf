package supervision

import "time"

// Order asks the gate to end a process.
type Order struct {
	// Target is the Identity of the process. An order for another one is void.
	Target string    `json:"target"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// GiveOrder leaves an order for the gate. Only the sidecar does.
func GiveOrder(home string, o Order) error { return Save(home, orderName, o) }

// ReadOrder reads the order that was given last; the zero Order when there is none.
func ReadOrder(home string) (Order, error) {
	var o Order
	err := Load(home, orderName, &o)
	return o, err
}
