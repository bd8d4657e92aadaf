package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/sidecar/homeinit"
)

func initCommand() *cobra.Command {
	var home homeinit.Home
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Initialise the node's home if it is empty; change nothing in one that is not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if home.ChainID == "" {
				return fmt.Errorf("the chain id is missing: set --chain-id or %s", envChainID)
			}
			if home.KeyringBackend != "" && !slices.Contains(homeinit.KeyringBackends, home.KeyringBackend) {
				return fmt.Errorf("%s is %q, want one of %s", envKeyringBackend, home.KeyringBackend,
					strings.Join(homeinit.KeyringBackends, ", "))
			}
			home.Moniker = cmp.Or(home.Moniker, home.ChainID)
			home.Log = newLogger()
			return home.Prepare(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&home.Dir, "home", cmp.Or(os.Getenv(envHome), defaultHome), "the node's home directory ($"+envHome+")")
	flags.StringVar(&home.ChainID, "chain-id", os.Getenv(envChainID), "the chain's id ($"+envChainID+")")
	flags.StringVar(&home.Moniker, "moniker", os.Getenv(envNodeName), "the node's name in the network, the chain id if empty ($"+envNodeName+")")
	flags.StringVar(&home.Seid, "seid", cmp.Or(os.Getenv(envSeid), defaultSeid), "the chain binary ($"+envSeid+")")
	flags.StringVar(&home.KeyringBackend, "keyring-backend", os.Getenv(envKeyringBackend),
		"written to client.toml unless empty ($"+envKeyringBackend+")")
	return cmd
}
