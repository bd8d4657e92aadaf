// Package reasons explains every reason of a condition, of a plan and of an event: what it means,
// why it happens and what to do. The page docs/reference/reasons.md and `kubectl sei explain` are made from
// it, so that both say the same. It holds words and decides nothing.
package reasons
