package node_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// atRest are rows of nodes that no upgrade is ahead of.
var atRest = map[string]upgradeCase{
	"nothing is known of a new node":              {func(*node.UpgradeInput) {}, "seid:v6", "", "", false, false},
	"no entries, nothing applied":                 {both(document(known()), func(in *node.UpgradeInput) { in.Spec.Upgrades = nil }), "seid:v6", "", "", false, false},
	"no entries, upgrades applied long ago":       {both(document(known("v6", "v5")), func(in *node.UpgradeInput) { in.Spec.Upgrades = nil }), "seid:v6", "", "", false, false},
	"nothing applied":                             {document(known()), "seid:v6", "", "", false, false},
	"only upgrades before the list are applied":   {document(known("v6", "v5")), "seid:v6", "", "", false, false},
	"the first is applied":                        {document(known("v7")), "seid:v7", "v7", "", false, false},
	"the second is applied":                       {document(known("v8", "v7")), "seid:v8", "v8", "", false, false},
	"all are applied":                             {document(known("v9", "v8", "v7", "v6")), "seid:v9", "v9", "", false, false},
	"the chain had an upgrade that nobody listed": {document(known("v7.5", "v7")), "seid:v7", "v7", "", false, false},
	"the list is in another order than the chain": {both(document(known("v8", "v7")), func(in *node.UpgradeInput) {
		in.Spec.Upgrades[0], in.Spec.Upgrades[1] = in.Spec.Upgrades[1], in.Spec.Upgrades[0]
	}), "seid:v8", "v8", "", false, false},
	"the image of the entry in force was edited": {both(document(known("v7")), func(in *node.UpgradeInput) { in.Spec.Upgrades[0].Image = "seid:v7.1" }), "seid:v7.1", "v7", "", false, false},
	"spec.image was edited while an entry is in force": {both(document(known("v7")), func(in *node.UpgradeInput) { in.Spec.Image = "seid:v6.1" }),
		"seid:v7", "v7", "", false, false},
	"folded into spec.image": {both(document(known("v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", Image: "seid:v7"}), func(in *node.UpgradeInput) {
		in.Spec.Image, in.Spec.Upgrades = "seid:v7", nil
	}), "seid:v7", "", "", false, false},
	"folded while nobody answers": {both(before(v1alpha1.UpgradeStatus{Entry: "v7", Image: "seid:v7", Applied: &v1alpha1.AppliedUpgrade{Name: "v7"}}),
		func(in *node.UpgradeInput) { in.Spec.Image, in.Spec.Upgrades = "seid:v7", in.Spec.Upgrades[1:] }), "seid:v7", "", "", false, false},
	"the document is ahead of what was known": {both(document(known("v8", "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", Image: "seid:v7"})),
		"seid:v8", "v8", "", false, false},
	"another volume was put in the place": {both(document(known("v7")), before(v1alpha1.UpgradeStatus{Entry: "v9", Image: "seid:v9"})),
		"seid:v7", "v7", "", false, false},
}

// inTheDark are rows of nodes of which not all is known.
var inTheDark = map[string]upgradeCase{
	"nobody answers, an entry was in force": {before(v1alpha1.UpgradeStatus{Entry: "v8", Image: "seid:v8", State: v1alpha1.UpgradeUpToDate}), "seid:v8", "v8", "", false, false},
	"nobody answers, it was halted": {before(v1alpha1.UpgradeStatus{
		Entry: "v7", State: v1alpha1.UpgradeHalted, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8", Height: 5},
	}), "seid:v8", "v8", "", true, false},
	"nobody answers, it was moved": {before(v1alpha1.UpgradeStatus{
		Entry: "v8", State: v1alpha1.UpgradeMoved, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8", Height: 5},
	}), "seid:v8", "v8", "", true, false},
	"nobody answers, it had failed": {before(v1alpha1.UpgradeStatus{
		Entry: "v8", State: v1alpha1.UpgradeFailed, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8", Height: 5},
	}), "seid:v8", "v8", "", true, false},
	"nobody answers, an upgrade was ahead": {before(v1alpha1.UpgradeStatus{
		State: v1alpha1.UpgradeScheduled, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v7", Height: 5, Type: v1alpha1.UpgradeMajor},
	}), "seid:v6", "", "", false, false},
	"nobody answers, a minor one was ahead: it waits for an answer": {before(v1alpha1.UpgradeStatus{
		State: v1alpha1.UpgradeScheduled, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v7", Height: 5, Type: v1alpha1.UpgradeMinor},
	}), "seid:v6", "", "", false, false},
	"nobody answers, it had moved early": {before(v1alpha1.UpgradeStatus{
		Entry: "v7", State: v1alpha1.UpgradeMovedEarly, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v7", Height: 5, Type: v1alpha1.UpgradeMinor},
	}), "seid:v7", "v7", "", false, true},
	"an older sidecar keeps the image that runs":       {both(document(ofLevel(7)), onImage("seid:v8")), "seid:v8", "v8", "", false, false},
	"an older sidecar, an image that is not listed":    {both(document(ofLevel(7)), onImage("seid:v5")), "seid:v6", "", "", false, false},
	"an older sidecar, spec.image runs":                {both(document(ofLevel(7)), onImage("seid:v6")), "seid:v6", "", "", false, false},
	"an older sidecar that has halted":                 {document(haltedAt(ofLevel(7), "v7")), "seid:v7", "v7", "", true, false},
	"a much older sidecar keeps the image that runs":   {both(document(ofLevel(3)), onImage("seid:v7")), "seid:v7", "v7", "", false, false},
	"entries and a first image in one edit, unwatched": {both(before(v1alpha1.UpgradeStatus{Image: "seid:v8"}), onImage("seid:v8")), "seid:v8", "v8", "", false, false},
	"the state has not been asked yet":                 {both(document(stage(api.HomeSynced)), onImage("seid:v7")), "seid:v7", "v7", "", false, false},
}

// firstState are rows of nodes that come to their first state.
var firstState = map[string]upgradeCase{
	"from genesis": {both(document(stage(api.HomePrepared)), onImage("seid:v6")), "seid:v6", "", "", false, false},
	"from genesis, again, on an empty volume":    {both(document(stage(api.HomeEmpty)), before(v1alpha1.UpgradeStatus{Entry: "v9", Image: "seid:v9"}), onImage("seid:v9")), "seid:v6", "", "", false, false},
	"a snapshot before all heights":              {both(document(stage(api.HomePrepared, 99)), bucketAt(500), heights(100, 200, 300)), "seid:v6", "", "", false, false},
	"a snapshot right before a height":           {both(document(stage(api.HomePrepared, 199)), bucketAt(500), heights(100, 200, 300)), "seid:v7", "v7", "", false, false},
	"a snapshot at a height":                     {both(document(stage(api.HomePrepared, 200)), bucketAt(500), heights(100, 200, 300)), "seid:v8", "v8", "", false, false},
	"a snapshot past a height":                   {both(document(stage(api.HomePrepared, 299, 150)), bucketAt(500), heights(100, 200, 300)), "seid:v8", "v8", "", false, false},
	"a snapshot, entries without heights":        {both(document(stage(api.HomePrepared, 299)), bucketAt(500)), "seid:v6", "", "", false, false},
	"nothing is restored yet":                    {both(document(stage(api.HomeEmpty)), bucketAt(500), heights(100, 200, 300)), "seid:v6", "", "", false, false},
	"bootstrapped to a height":                   {both(document(stage(api.HomeFirstSync)), bucketAt(250), heights(100, 200, 300), func(in *node.UpgradeInput) { in.Bootstrapped = true }), "seid:v8", "v8", "", false, false},
	"state sync of a new node":                   {both(document(stage(api.HomePrepared)), stateSync), "seid:v6", "", "", false, false},
	"state sync again":                           {both(document(stage(api.HomePrepared)), stateSync, before(v1alpha1.UpgradeStatus{Entry: "v8", Image: "seid:v8"})), "seid:v8", "v8", "", false, false},
	"the state names the upgrade it needs":       {document(refusing(told(api.Upgrades{Applied: applied("v8")}), api.RefusedHandlerMissing, "v8")), "seid:v8", "v8", "", false, false},
	"it names one that nobody listed":            {both(document(refusing(told(api.Upgrades{Applied: applied("v8.5")}), api.RefusedHandlerMissing, "v8.5")), onImage("seid:v7")), "seid:v7", "v7", "v8.5", false, false},
	"what was guessed is not due yet":            {both(document(refusing(stage(api.HomeFirstSync), api.RefusedTooEarly, "v8")), onImage("seid:v8")), "seid:v7", "v7", "", false, false},
	"the first entry was guessed and is not due": {both(document(refusing(stage(api.HomeFirstSync), api.RefusedTooEarly, "v7")), onImage("seid:v7")), "seid:v6", "", "", false, false},
}

// majorOnes are rows of upgrades that need a halt.
var majorOnes = map[string]upgradeCase{
	"scheduled":                        {document(planned(known(), major("v7"))), "seid:v6", "", "", false, false},
	"the next is scheduled":            {document(planned(known("v7"), major("v8"))), "seid:v7", "v7", "", false, false},
	"scheduled, the entry says Minor":  {both(document(planned(known(), major("v7"))), typed(0, v1alpha1.UpgradeMinor)), "seid:v6", "", "", false, false},
	"scheduled, the height has passed": {both(document(planned(known(), major("v7"))), heights(1)), "seid:v6", "", "", false, false},
	"scheduled without an entry":       {document(planned(known("v9"), major("v10"))), "seid:v9", "v9", "v10", false, false},
	"cancelled":                        {both(document(known("v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeScheduled, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8"}})), "seid:v7", "v7", "", false, false},
	"halted":                           {document(needing(known(), "v7")), "seid:v7", "v7", "", true, false},
	"halted for the next":              {document(needing(known("v7"), "v8")), "seid:v8", "v8", "", true, false},
	"halted, one was left out":         {document(needing(known("v7"), "v9")), "seid:v9", "v9", "", true, false},
	"halted without an entry":          {document(needing(known("v9"), "v10")), "seid:v9", "v9", "v10", true, false},
	"halted, the name is misspelt":     {both(document(needing(known(), "v7")), func(in *node.UpgradeInput) { in.Spec.Upgrades[0].Name = "V7" }), "seid:v6", "", "v7", true, false},
	"halted, the entry was added later": {both(document(needing(known("v9"), "v10")), func(in *node.UpgradeInput) {
		in.Spec.Upgrades = append(in.Spec.Upgrades, v1alpha1.ChainUpgrade{Name: "v10", Image: "seid:v10"})
	}), "seid:v10", "v10", "", true, false},
	"halted, held":                      {both(document(needing(known(), "v7")), func(in *node.UpgradeInput) { in.Hold = "a snapshot is taken" }), "seid:v6", "", "", true, false},
	"moved, held too late":              {both(document(needing(told(api.Upgrades{}), "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7"}), func(in *node.UpgradeInput) { in.Hold = "a snapshot is taken" }), "seid:v7", "v7", "", true, false},
	"moved, the handler is missing":     {both(document(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMoved})), "seid:v7", "v7", "", true, false},
	"failed, the image was edited":      {both(document(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeFailed}), func(in *node.UpgradeInput) { in.Spec.Upgrades[0].Image = "seid:v7-fixed" }), "seid:v7-fixed", "v7", "", true, false},
	"needed and applied: it is applied": {document(needing(known("v8", "v7"), "v7")), "seid:v8", "v8", "", false, false},
	"spec.image is too new":             {document(refusing(planned(known(), major("v7")), api.RefusedTooEarly, "v7")), "seid:v6", "", "", false, false},
	"the entry in force is too new":     {document(refusing(planned(known("v7"), major("v8")), api.RefusedTooEarly, "v8")), "seid:v7", "v7", "", false, false},
	"skipped by its validators":         {both(document(known("v7")), before(v1alpha1.UpgradeStatus{Entry: "v8", State: v1alpha1.UpgradeMoved, Scheduled: &v1alpha1.ScheduledUpgrade{Name: "v8"}})), "seid:v7", "v7", "", false, false},
}

// minorOnes are rows of upgrades that may run before their height.
var minorOnes = map[string]upgradeCase{
	"scheduled":                                         {document(planned(known(), minor("v7"))), "seid:v7", "v7", "", false, true},
	"scheduled, the entry says Minor":                   {both(document(planned(known(), minor("v7"))), typed(0, v1alpha1.UpgradeMinor)), "seid:v7", "v7", "", false, true},
	"scheduled, the entry says Major":                   {both(document(planned(known(), minor("v7"))), typed(0, v1alpha1.UpgradeMajor)), "seid:v6", "", "", false, false},
	"halted, the entry says Major":                      {both(document(needing(known(), "v7")), typed(0, v1alpha1.UpgradeMajor)), "seid:v7", "v7", "", true, false},
	"scheduled without an entry":                        {document(planned(known("v9"), minor("v10"))), "seid:v9", "v9", "v10", false, false},
	"in a fleet, not its turn":                          {both(document(planned(known(), minor("v7"))), inFleet("")), "seid:v6", "", "", false, false},
	"in a fleet, another one's turn":                    {both(document(planned(known(), minor("v7"))), inFleet("v8")), "seid:v6", "", "", false, false},
	"in a fleet, its turn":                              {both(document(planned(known(), minor("v7"))), inFleet("v7")), "seid:v7", "v7", "", false, true},
	"in a fleet, the leave was withdrawn":               {both(document(planned(known(), minor("v7"))), inFleet(""), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})), "seid:v7", "v7", "", false, true},
	"in a fleet, its turn, the plan was cancelled":      {both(document(known()), inFleet("v7")), "seid:v6", "", "", false, false},
	"in a fleet, its turn, the plan is a major one now": {both(document(planned(known(), major("v7"))), inFleet("v7")), "seid:v6", "", "", false, false},
	"in a fleet, halted":                                {both(document(needing(known(), "v7")), inFleet("")), "seid:v7", "v7", "", true, false},
	"cancelled after the move":                          {both(document(known()), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})), "seid:v7", "v7", "", false, true},
	"cancelled, and the entry was removed":              {both(document(known()), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly}), func(in *node.UpgradeInput) { in.Spec.Upgrades = in.Spec.Upgrades[1:] }), "seid:v6", "", "", false, false},
	"applied after the move":                            {both(document(known("v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})), "seid:v7", "v7", "", false, false},
	"moved, and halted all the same":                    {both(document(refusing(needing(known(), "v7"), api.RefusedNeeded, "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})), "seid:v7", "v7", "", true, false},
	"moved, and the next is a major one":                {both(document(planned(known(), major("v8"))), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})), "seid:v7", "v7", "", false, true},
	"moved, and seid calls it too early": {both(document(refusing(planned(known(), major("v7")), api.RefusedTooEarly, "v7")), before(v1alpha1.UpgradeStatus{Entry: "v7", State: v1alpha1.UpgradeMovedEarly})),
		"seid:v6", "", "", false, false},
}

func TestEffectiveImage_Table(t *testing.T) {
	rows := 0
	for group, cases := range map[string]map[string]upgradeCase{
		"at rest": atRest, "in the dark": inTheDark, "first state": firstState, "major": majorOnes, "minor": minorOnes,
	} {
		for name, tc := range cases {
			rows++
			in := node.UpgradeInput{Spec: walk(), Running: "seid:v6"}
			tc.change(&in)
			got := node.EffectiveImage(in)
			if got.Image != tc.image || got.Entry != tc.entry || got.Missing != tc.missing || got.Halted != tc.halted || got.Early != tc.early {
				t.Errorf("%s, %s: image %s entry %q missing %q halted %v early %v, want %s %q %q %v %v", group, name,
					got.Image, got.Entry, got.Missing, got.Halted, got.Early, tc.image, tc.entry, tc.missing, tc.halted, tc.early)
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}
