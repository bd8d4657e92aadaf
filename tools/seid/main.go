// Command seid is the chain node that the operator runs, built from the module
// version that go.mod names. Nothing of the operator belongs in here: the
// binary has to behave exactly like the published one.
package main

import (
	"os"

	"github.com/sei-protocol/sei-chain/app"
	"github.com/sei-protocol/sei-chain/app/params"
	seidcmd "github.com/sei-protocol/sei-chain/cmd/seid/cmd"
	servercmd "github.com/sei-protocol/sei-chain/sei-cosmos/server/cmd"
)

func main() {
	// Bech32 prefixes are process-wide state: they come before any command exists.
	params.SetAddressPrefixes()

	root, _ := seidcmd.NewRootCmd()

	err := servercmd.Execute(root, app.DefaultNodeHome)
	if err != nil {
		os.Exit(1)
	}
}
