package config

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// TrialChainID is the chain of trial starts.
const TrialChainID = "trial-1"

// Scratch is where a trial start takes place.
type Scratch struct {
	// Dir is the home of the trial. Nothing outside of it is written.
	Dir string
	// Home is the node's own home, for files that are only read.
	Home string
	// Listen gives an address of the loopback interface, host:port, that nobody listens on.
	Listen func() (string, error)
}

// Trial is a configuration to start seid on for a moment.
type Trial struct {
	Files Files
	// Ready is the host:port that seid listens on when it is past everything it checks;
	// empty when it will not come that far.
	Ready string
	// Settle is how long seid has to stay alive after that.
	Settle time.Duration
}

// What seid does in the background may end it a moment after it listens, and later where
// something malformed was left for it to find.
const (
	settle       = 250 * time.Millisecond
	settleLonger = 3 * time.Second
	// settleServers is longer than seid waits for a server before it starts the next.
	settleServers = 6 * time.Second
)

// trialEdit changes one thing for the trial. What is malformed stays as it is, so that
// seid itself refuses it.
type trialEdit struct {
	view
	scratch Scratch
	err     error
}

// ForTrial returns the configuration with the network, the ports and the directories of the
// node taken out: peers are not dialled, everything listens on free ports of the loopback
// interface, no path leads out of the scratch directory, state sync is off.
func ForTrial(files Files, s Scratch) (Trial, error) {
	e := &trialEdit{view: view{files: files.clone()}, scratch: s}
	e.confinePaths()
	e.silencePeers()
	trial := Trial{Settle: settle}
	e.moveP2P(&trial)
	e.moveServers(&trial)
	e.dropOutside()
	trial.Files = e.files
	return trial, e.err
}

// TrialDigest names what a trial start can judge of the files: who the peers are, what the
// node is called and where it listens makes no difference.
func (f Files) TrialDigest() (string, error) {
	trial, err := ForTrial(f, Scratch{Dir: "/trial", Home: "/home", Listen: func() (string, error) { return "127.0.0.1:1", nil }})
	if err != nil {
		return "", err
	}
	skip := []Place{placeKeyring, placeMoniker, {AppToml, "sei"}, {ConfigToml, "statesync"}}
	v := newView(f)
	if rulePeers(v); len(v.found) == 0 {
		for _, key := range slices.Concat([]string{keyExternalAddress}, peerLists, peerIDLists) {
			skip = append(skip, registry[key].Places...)
		}
	}
	return trial.Files.digest(skip)
}

func (e *trialEdit) set(place Place, value any) {
	if e.err == nil {
		e.err = e.files.set(place, value)
	}
}

func (e *trialEdit) setKey(name string, value any) {
	if e.err == nil {
		e.err = write(&e.files, registry[name], value)
	}
}

// replace sets a place only where the files have it.
func (e *trialEdit) replace(place Place, value any) {
	if _, ok := e.files.lookup(place); ok {
		e.set(place, value)
	}
}

// listen gives an address of the loopback interface.
func (e *trialEdit) listen() string {
	address, err := e.scratch.Listen()
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("looking for a free port: %w", err)
	}
	return address
}

var (
	// readOnly are files that seid reads and never writes. It looks for them in its config
	// directory.
	readOnly = []Place{{ConfigToml, "rpc.tls-cert-file"}, {ConfigToml, "rpc.tls-key-file"}}
	// scratchFiles are where a scratch home has the files that others may have elsewhere.
	scratchFiles = map[Place]string{
		{ConfigToml, "genesis-file"}:              "config/genesis.json",
		{ConfigToml, "node-key-file"}:             "config/node_key.json",
		{ConfigToml, "priv-validator.key-file"}:   "config/priv_validator_key.json",
		{ConfigToml, "priv-validator.state-file"}: "data/priv_validator_state.json",
	}
)

// confinePaths leads every path that points out of the home into the scratch directory: a
// trial must not open the node's own databases or keys.
func (e *trialEdit) confinePaths() {
	for _, name := range []FileName{ConfigToml, AppToml} {
		for i, path := range e.files.tree(name).leaves() {
			place := Place{name, path}
			value, _ := e.files.lookup(place)
			text, _ := value.(string)
			if !leadsOut(text) || slices.Contains(readOnly, place) {
				continue
			}
			e.set(place, filepath.Join(e.scratch.Dir, "elsewhere", strconv.Itoa(i)))
		}
	}
	for place, file := range scratchFiles {
		e.replace(place, file)
	}
	for _, place := range readOnly {
		if file := e.textAt(place); file != "" && !filepath.IsAbs(file) {
			e.set(place, filepath.Join(e.scratch.Home, "config", file))
		}
	}
	e.replace(Place{AppToml, "genesis.stream-import"}, false)
	if e.files.Client != nil {
		e.set(placeChainID, TrialChainID)
	}
}

func leadsOut(path string) bool {
	return strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..")
}

// silencePeers replaces peers by one that nobody is.
func (e *trialEdit) silencePeers() {
	nobody := strings.Repeat("0", 40) + "@127.0.0.1:1"
	for _, field := range peerLists {
		var kept []string
		for _, peer := range splitPeers(e.text(field)) {
			if checkPeerAddress(peer) == nil {
				peer = nobody
			}
			if !slices.Contains(kept, peer) {
				kept = append(kept, peer)
			}
		}
		if list := strings.Join(kept, ","); list != e.text(field) {
			e.setKey(field, list)
		}
	}
	if address := e.text(keyExternalAddress); address != "" && checkExternal(address) == nil {
		e.setKey(keyExternalAddress, "127.0.0.1:1") // seid looks the name up
	}
	e.replace(Place{ConfigToml, "p2p.upnp"}, false)
}

func (e *trialEdit) moveP2P(trial *Trial) {
	if checkP2PListen(e.text(keyP2PAddress)) != nil {
		trial.Settle = settleLonger
		return
	}
	address := e.listen()
	e.setKey(keyP2PAddress, "tcp://"+address)
	if e.seed() {
		// A seed opens nothing else; what it does after that takes no time.
		trial.Ready, trial.Settle = address, time.Second
	}
}

func (e *trialEdit) seed() bool {
	engine, _ := e.files.lookup(placeEngineMode)
	return engine == any(string(seid.ModeSeed))
}

func (e *trialEdit) moveServers(trial *Trial) {
	if address := e.text(keyRPCAddress); address != "" && !slices.ContainsFunc(splitPeers(address), malformedURL) {
		e.setKey(keyRPCAddress, "tcp://"+e.listen())
	}
	e.replace(Place{ConfigToml, "rpc.pprof-laddr"}, "")
	e.replace(Place{ConfigToml, "instrumentation.prometheus-listen-addr"}, e.listen())
	e.replace(Place{AppToml, "rosetta.enable"}, false)
	// seid refuses an address for this one that is not of the loopback interface.
	if host, _, err := net.SplitHostPort(e.textAt(Place{AppToml, "admin_server.admin_address"})); err == nil && net.ParseIP(host).IsLoopback() {
		_, port, _ := net.SplitHostPort(e.listen())
		e.set(Place{AppToml, "admin_server.admin_address"}, net.JoinHostPort(host, port))
	}
	for _, side := range []string{"evm.http_port", "evm.ws_port"} {
		if n, ok := e.integer(side); ok && n > 0 && n <= 65535 {
			_, port, _ := net.SplitHostPort(e.listen())
			number, _ := strconv.ParseInt(port, 10, 64)
			e.setKey(side, number)
		}
	}
	e.moveAPIs(trial)
}

// moveAPIs leaves gRPC as the one that is waited for: seid opens it last. The other two
// would each keep seid waiting for five seconds.
func (e *trialEdit) moveAPIs(trial *Trial) {
	if checkListenURL(e.text("api.rest.address")) == nil {
		e.setKey("api.rest.address", "tcp://"+e.listen())
		e.setKey("api.rest.enable", false)
	}
	webFine := checkListen(e.text("api.grpc_web.address")) == nil
	if webFine {
		e.setKey("api.grpc_web.address", e.listen())
		e.setKey("api.grpc_web.enable", false)
	}
	if e.flag("api.grpc.enable") && checkListen(e.text("api.grpc.address")) != nil {
		return
	}
	address := e.listen()
	e.setKey("api.grpc.address", address)
	if e.seed() {
		return
	}
	e.setKey("api.grpc.enable", true)
	trial.Ready = address
	if !webFine && e.flag("api.grpc_web.enable") {
		trial.Settle = settleServers
	}
}

// dropOutside switches off what talks to others: a remote signer, a database, state sync.
func (e *trialEdit) dropOutside() {
	e.replace(Place{ConfigToml, "priv-validator.laddr"}, "")
	e.replace(Place{AppToml, "eth_replay.eth_replay_enabled"}, false)
	if slices.Contains(e.list("tx_index.indexer"), "psql") && e.text("tx_index.psql_conn") != "" {
		e.setKey("tx_index.indexer", []any{"null"})
		e.setKey("tx_index.psql_conn", "")
	}
	e.replace(Place{ConfigToml, "statesync.enable"}, false)
}

func (e *trialEdit) textAt(place Place) string {
	value, _ := e.files.lookup(place)
	text, _ := value.(string)
	return text
}

func malformedURL(address string) bool { return checkListenURL(address) != nil }
