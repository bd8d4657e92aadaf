// Package fleet is the domain of a SeiNodeDeployment: its nodes, which of them may move now,
// its Services and routes, and what its status says.
//
// Decide works out what to do from an Observation, and Pass.Report writes the status from
// what came of it. Pure functions only: no client, no clock but the one handed in, and no
// condition of a fleet decides anything.
package fleet
