// Package teehistorian reads the recordings that DDNet servers make of their
// games, and shows them tick by tick.
//
// A file is a magic, a header and a stream of records:
//
//	magic   16 bytes
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
// Nothing tells the length of a record, the tick it belongs to, or where
// anything is, so one pass over all of them makes an index: chunks of 128 KiB
// with their ticks and the state at their beginning. Everything else is
// decoded from there when it is asked for. A recording that has grown is read
// on from where its index ends.
//
// The pieces, from the bytes up: varint.go and unpacker.go read values,
// record.go decodes records, scanner.go finds them in a source. extension.go
// and message.go know the payloads, fields.go decodes them. state.go follows
// the players. builder.go is the pass, in which account.go counts what will be
// shown and checkpoint.go keeps states; index.go is what it leaves behind,
// index_file.go how that is stored, seal.go whether it still fits. block.go
// decodes a stretch again; event_json.go, state_json.go, table.go,
// event_log.go, paths.go and documents.go render it.
//
// Decided where the format says nothing:
//
//   - A record longer than 64 MiB cannot be decoded.
//   - Decoding ends at the record behind the one that began more than 262144
//     stays, as at one that cannot be decoded.
//   - A chunk with more than 256 MiB of JSON (a single tick may have any
//     number of records) is shown in chunks/ and the index only.
package teehistorian
