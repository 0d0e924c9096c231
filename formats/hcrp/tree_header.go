package hcrp

import (
	"context"
	"strconv"

	"recfs/formats"
)

// header.json.
type headerDocument struct {
	formats.HeaderHead
	Form     string             `json:"form"`
	Finished *bool              `json:"finished,omitempty"`
	Source   formats.SourceInfo `json:"source"`
	Header   headerJSON         `json:"header"`
	Problems []formats.Problem  `json:"problems"`
}

func (rec *recording) headerDocument(context.Context) (any, error) {
	r := rec.Reader
	doc := headerDocument{
		HeaderHead: formats.HeaderHead{
			Format: formatName, FormatVersion: strconv.Itoa(r.Header.Version), Layout: string(r.Header.Layout),
		},
		Form: "compacted", Source: rec.src.Info(), Header: r.Header.json(), Problems: listOf(r.Problems),
	}
	if r.segmented {
		doc.Form, doc.Finished = "segmented", &r.Finished
	}
	return doc, nil
}
