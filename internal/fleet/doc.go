// Package fleet decides and renders what belongs to a SeiNodeDeployment: its nodes,
// which of them may move now, its Services and routes, and what becomes of a rollout.
//
// Pure functions only: no client, no clock but the one handed in, and no condition
// of a fleet is read back.
package fleet
