// Package teehistorian reads the recordings that DDNet servers make of their
// games, and shows them tick by tick.
//
// A file is a magic, a header and a stream of records:
//
//	magic   16 bytes: 69 9d b1 7b 8e fb 34 ff b1 d8 da 6f 60 c1 5d d1
//	header  JSON object, 00
//	record  id, and what the id asks for:
//	  >= 0  PLAYER_DIFF      dx dy              the id is the client id
//	  -1    FINISH
//	  -2    TICK_SKIP        dt
//	  -3    PLAYER_NEW       cid x y
//	  -4    PLAYER_OLD       cid
//	  -5    INPUT_DIFF       cid d0 … d9
//	  -6    INPUT_NEW        cid v0 … v9
//	  -7    MESSAGE          cid size data
//	  -8    JOIN             cid
//	  -9    DROP             cid reason
//	  -10   CONSOLE_COMMAND  cid flags command argc arg …
//	  -11   EX               uuid size data     not in version 1
//
// # Values
//
// Everything in the table is an int, except that command, arg and reason are str, uuid has 16 bytes
// and data has size bytes. A str is its bytes and a 00. An int has 32 bits in one to five bytes:
//
//	        7 6 5 4 3 2 1 0
//	byte 1  E S b b b b b b   bits 0 to 5; E: another byte follows
//	byte 2  E b b b b b b b   bits 6 to 12
//	byte 3  E b b b b b b b   bits 13 to 19
//	byte 4  E b b b b b b b   bits 20 to 26
//	byte 5  . . . . b b b b   bits 27 to 30; the others do not count
//
// The value is the complement of the bits if S is set: 40 is -1, 3f is 63, 80 01 is 64, c0 01 is
// -65.
//
// # Ticks
//
// A tick is 20 ms. Records do not store theirs: it follows from TICK_SKIP and from the client ids
// of position records (PLAYER_DIFF, PLAYER_NEW, PLAYER_OLD), which rise within a tick.
//
//	before all records     tick = 0, last = +infinity
//	TICK_SKIP dt           tick += dt + 1, last = -1
//	position record, cid   tick += 1 if cid <= last; last = cid
//
// # Payloads
//
// The data of a MESSAGE is what the client sent: the int id * 2 + system flag, 16 bytes of UUID if
// the id is 0, and fields. Ids mean what they do in the protocol of the client, which its JOINVER
// record tells:
//
//	0.6  0.7
//	17        Cl_Say                team, text str
//	18        Cl_SetTeam            team
//	19   26   Cl_SetSpectatorMode   (0.7: mode) spectator_id
//	20   27   Cl_StartInfo          name str, clan str, country, then 0.6: skin str,
//	                                use_custom_color, color_body, color_feet; 0.7: as Cl_SkinChange
//	21        Cl_ChangeInfo         as Cl_StartInfo
//	22   28   Cl_Kill
//	     29   Cl_ReadyChange
//	23   30   Cl_Emoticon           emoticon
//	24   31   Cl_Vote               vote
//	25   32   Cl_CallVote           type str, value str, reason str (0.7: force)
//	26        Cl_IsDDNetLegacy      version, may be missing
//	31        Cl_ShowOthersLegacy   show
//	     34   Cl_SkinChange         6 skin_parts str, 6 use_custom, 6 colors
//	     39   Cl_Command            name str, arguments str
//
// The data of an EX record belongs to the extension that its UUID names: the version 3 UUID of a
// name in one namespace. docs/formats/teehistorian.md sections 7 and 8 list the extensions, and the
// messages with a UUID, with their fields.
//
// # Index
//
// Nothing tells the length of a record, the tick it belongs to, or where
// anything is, so one pass over all of them makes an index: chunks of 128 KiB
// with their ticks and the state at their beginning. Everything else is
// decoded from there when it is asked for. A recording that has grown is read
// on from where its index ends.
//
// # Files
//
// In the order in which to read them:
//
//	values.go record.go scanner.go  values, records, and where they are in a source
//	message.go                      payloads
//	header.go                       the header
//	state.go look.go checkpoint.go  what is known of the players, and how it is kept
//	pass.go account.go              the pass, which counts what will be shown
//	index.go index_saved.go         what the pass leaves behind
//	block.go event_json.go state_json.go  a stretch decoded again, and its JSON
//	event_log.go event_lines.go event_text.go  lines of events.txt
//	columns.go table_rows.go        files of a stay, and tables
//	paths.go heat.go                paths.svg, path.svg and heat.png, over the map
//	demo_*.go                       the recording played as demos
//	contract.go                     documents, and what the rest of the program asks for
//	tree*.go play*.go               what it shows, and how it plays
//
// # Decisions
//
// Where the format says nothing:
//
//   - A record longer than 64 MiB cannot be decoded.
//   - Decoding ends at the record after the one that began more than 262144
//     stays, as at one that cannot be decoded.
//   - A run that takes more than 33554432 ticks (7 days) in the recording has no demo.
package teehistorian
