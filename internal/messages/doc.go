// Package messages collects the messages that users read in conditions, events and errors: it
// parses the packages that word them, and finds their formats. docs/reference/messages.md is made from it.
// Nothing of the product uses it.
package messages
