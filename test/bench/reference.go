package main

// reference is what the public operator of June 2026 needed, measured by
// another bench on a machine with 2 cores, with a stub for a sidecar. Zero means that it was not measured.
type reference struct {
	allDone, firstDone       float64
	nodeMedian, nodeP95      float64
	writesToDone, writesRest float64
	readsPerNode             float64
	settledWrites            float64
	changeToDelete           float64
	updateAll                float64
	updateWrites             float64
	updateReads              float64
	loaded, peak             float64
	operatorCPU, apiCPU      float64
}

// references are by number of nodes. Of two runs the better one counts.
var references = map[int]reference{
	100: {
		allDone: 20.2, firstDone: 12.8, nodeMedian: 17.2, nodeP95: 19.8, writesToDone: 17, settledWrites: 20, readsPerNode: 2, writesRest: 200,
		changeToDelete: 1.2, updateAll: 20.1, updateWrites: 9, updateReads: 3, loaded: 70, peak: 75, operatorCPU: 4.1, apiCPU: 24,
	},
	500: {
		allDone: 115.3, firstDone: 75.2, nodeMedian: 100.8, nodeP95: 112, writesToDone: 17, settledWrites: 20, readsPerNode: 2, writesRest: 1000,
		changeToDelete: 3.5, updateAll: 116.8, updateWrites: 9.05, updateReads: 3, loaded: 103, peak: 132, operatorCPU: 19.5, apiCPU: 122,
	},
	1000: {
		allDone: 223.2, firstDone: 139.9, nodeMedian: 190.7, nodeP95: 217.1, writesToDone: 17, settledWrites: 20.1, readsPerNode: 2, writesRest: 2000,
		changeToDelete: 7.4, updateAll: 269.7, updateWrites: 9.1, updateReads: 3, loaded: 144, peak: 202, operatorCPU: 37.7, apiCPU: 240,
	},
}

// What was measured with one number of nodes only, and holds for all.
const (
	referenceSingle    = 0.33
	referenceMarkReady = 26.0
	referenceHang      = "not in 90 s"
)
