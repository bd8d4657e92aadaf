package look

import "github.com/sei-operator/sei-operator/internal/sidecar/api"

// stateSyncing: between its peer-to-peer port and its RPC seid does nothing but fetch its
// state. Where the ports are not known, its metrics, which come with the former, tell the
// same, and a home without state leaves little else.
func (f Facts) stateSyncing() bool {
	if f.StateSync == nil {
		return false
	}
	if f.Ports.Known {
		return f.Ports.P2P
	}
	return f.StateSync.Metrics != nil || !f.StateSync.HasState
}

// stateSyncing is a node that fetches its first state.
func stateSyncing(f Facts) api.Sync {
	stalled := f.Trend.Idle >= stateSyncStall
	s := state(api.SyncStateSyncing, stateSyncMessage(f.StateSync, stalled))
	s.Stalled = stalled
	s.Progress = f.StateSync.progress()
	if m := f.StateSync.Metrics; m != nil && m.Peers != nil {
		s.Peers = *m.Peers
	}
	return s
}

func (s *StateSync) progress() *api.Progress {
	m := s.Metrics
	switch {
	case m != nil && m.BackfilledTotal > 0:
		return &api.Progress{Done: m.Backfilled, Total: m.BackfilledTotal, Unit: "blocks"}
	case m != nil && m.ChunksTotal > 0:
		return &api.Progress{Done: min(m.Chunks, m.ChunksTotal), Total: m.ChunksTotal, Unit: "chunks"}
	case s.ChunkFiles > 0:
		return &api.Progress{Done: int64(s.ChunkFiles), Unit: "chunks"}
	}
	return nil
}

// neededPeers is how many peers seid waits for before it begins.
const neededPeers = 2

// stateSyncMessage says what the state sync is at.
func stateSyncMessage(s *StateSync, stalled bool) string {
	said := func(going, stuck string) string {
		if stalled {
			return stuck
		}
		return going
	}
	m := s.Metrics
	switch {
	case s.Local:
		return said(sayLocalSnapshot, sayLocalSnapshotStalled)
	case m == nil && s.ChunkFiles > 0:
		return said(sayFetchingChunks, sayChunksStalled)
	case m == nil:
		return said(sayStateSyncing, sayStateSyncStalled)
	case m.BackfilledTotal > 0:
		return said(sayBackfilling, sayBackfillStalled)
	case m.Chunks > 0 || s.ChunkFiles > 0:
		return said(sayFetchingChunks, sayChunksStalled)
	case m.Snapshots > 0:
		return said(sayVerifyingSnapshots, sayNoUsableSnapshot)
	case m.Peers != nil && *m.Peers < neededPeers:
		return said(sayNeedsPeers, sayNeedsPeers)
	}
	return said(sayLookingForSnapshots, sayNoSnapshotOffered)
}
