package config

// nearest returns the candidate with the smallest edit distance to name, or ""
// if even that one has little to do with it.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", max(len(name)/2, 3)
	for _, c := range candidates {
		if d := distance(name, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance, kept in one row.
func distance(a, b string) int {
	costs := make([]int, len(b)+1)
	for j := range costs {
		costs[j] = j
	}
	for i := range len(a) {
		diagonal := costs[0]
		costs[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = costs[j+1]
			costs[j+1] = min(substitute, costs[j]+1, costs[j+1]+1)
		}
	}
	return costs[len(b)]
}
