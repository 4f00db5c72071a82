//go:build !linux && !darwin && !windows

package winlock

import (
	"context"
	"os"

	"countersign/backend/pathid"
)

func openRead(place) (*os.File, pathid.Info, error) { return nil, pathid.Info{}, ErrUnsupported }

func describe(*os.File) (pathid.Info, error) { return pathid.Info{}, ErrUnsupported }

func replace(context.Context, Snapshot, []byte, Options) (pathid.Identity, string, error) {
	return pathid.Identity{}, "", ErrUnsupported
}

func create(context.Context, Snapshot, []byte, Options) (pathid.Identity, string, error) {
	return pathid.Identity{}, "", ErrUnsupported
}
