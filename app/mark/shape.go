package mark

import "math"

type point struct{ x, y float64 }

// distance is a shape: how far a point lies outside it, negative inside.
type distance func(point) float64

func disc(at point, radius float64) distance {
	return func(p point) float64 { return math.Hypot(p.x-at.x, p.y-at.y) - radius }
}

func ring(at point, radius, half float64) distance {
	return func(p point) float64 { return math.Abs(math.Hypot(p.x-at.x, p.y-at.y)-radius) - half }
}

// line is a stroke through the points with round ends and corners.
func line(points []point, half float64) distance {
	return func(p point) float64 {
		d := math.Inf(1)
		for i := 1; i < len(points); i++ {
			d = min(d, toSegment(p, points[i-1], points[i]))
		}
		return d - half
	}
}

func toSegment(p, a, b point) float64 {
	ax, ay, bx, by := p.x-a.x, p.y-a.y, b.x-a.x, b.y-a.y
	along := min(max((ax*bx+ay*by)/(bx*bx+by*by), 0), 1)
	return math.Hypot(ax-bx*along, ay-by*along)
}

// triangle has its corners clockwise on the screen and is round by that radius outside them.
func triangle(corners [3]point, round float64) distance {
	return func(p point) float64 {
		border, inside := math.Inf(1), true
		for i, a := range corners {
			b := corners[(i+1)%3]
			border = min(border, toSegment(p, a, b))
			inside = inside && (b.x-a.x)*(p.y-a.y)-(b.y-a.y)*(p.x-a.x) >= 0
		}
		if inside {
			border = -border
		}
		return border - round
	}
}

// tile is a square with round corners.
func tile(at point, half, round float64) distance {
	return func(p point) float64 {
		dx, dy := math.Abs(p.x-at.x)-half+round, math.Abs(p.y-at.y)-half+round
		return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - round
	}
}

func union(a, b distance) distance   { return func(p point) float64 { return min(a(p), b(p)) } }
func without(a, b distance) distance { return func(p point) float64 { return max(a(p), -b(p)) } }
func grown(a distance, by float64) distance {
	return func(p point) float64 { return a(p) - by }
}
