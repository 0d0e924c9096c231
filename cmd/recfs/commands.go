package main

// commands is the table of all commands, in the order of help. Each command has a file of its own,
// and no file but main.go refers to this one: help and completion are given the table.
func commands() commandTable {
	return commandTable{
		mountCommand,
		umountCommand,
		serveCommand,
		lsCommand,
		catCommand,
		treeCommand,
		cpCommand,
		infoCommand,
		findCommand,
		demoCommand,
		diffCommand,
		checkCommand,
		indexCommand,
		exportCommand,
		compactCommand,
		compactCommand.alias("rescue"),
		statsCommand,
		cacheCommand,
		installHelpersCommand,
		completionCommand,
		versionCommand,
		helpCommand(commands),
		completeCommand(commands),
		completeLineCommand(commands),
	}
}
