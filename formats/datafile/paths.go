package datafile

import "fmt"

// numberWidth is how many digits the numbers of items and data have.
const numberWidth = 5

const itemsPrefix = "items/"

// itemNumber is the id of item i, with a second number if it is not the first of its type and id.
func (t *Tables) itemNumber(i int) string {
	name := fmt.Sprintf("%0*d", numberWidth, t.Items[i].ID)
	if n := t.Items[i].before; n > 0 {
		name += fmt.Sprintf(".%d", n)
	}
	return name
}

func (t *Tables) itemPath(i int) string {
	return itemsPrefix + t.TypeName(t.Items[i].Type) + "/" + t.itemNumber(i)
}

func dataPath(i int) string { return fmt.Sprintf("data/%0*d", numberWidth, i) }

// A mediumPath is the path of an embedded image or sound.
type mediumPath func(index int, name string) string

func imagePath(index int, name string) string {
	return fmt.Sprintf("images/%02d%s.png", index, safeSuffix(name))
}

func soundPath(index int, name string) string {
	return fmt.Sprintf("sounds/%02d%s.opus", index, safeSuffix(name))
}

func envelopePath(o *Envelope) string {
	return fmt.Sprintf("envelopes/%03d%s.json", o.Index, safeSuffix(o.Name.Value))
}

// layerStem is the path of a layer's files without extension.
func layerStem(l *Layer) string {
	group := "xx"
	if l.Group != noGroup {
		group = fmt.Sprintf("%02d", l.Group)
	}
	return fmt.Sprintf("layers/%s-%02d-%s%s", group, l.Pos, l.Kind, safeSuffix(l.Name.Value))
}

// safeSuffix is a name from inside the map as the end of a file name, after a dash.
func safeSuffix(name string) string {
	if safe := safeName(name); safe != "" {
		return "-" + safe
	}
	return ""
}
