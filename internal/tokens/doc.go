// Package tokens keeps the tokens that the operator shows to sidecars: one per audience, asked for
// when it is needed, used until shortly before it expires. It knows audiences and times, neither
// nodes nor what a token opens.
package tokens
