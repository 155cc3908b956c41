/** An option of a command: `--name` alone, or `--name VALUE`. */
export interface OptionDeclaration {
  /** What stands behind the name; absent for a flag. `true|false` may be left out: the name alone means true. */
  readonly value?: string;
  /** What it does, in one sentence without a full stop. */
  readonly about: string;
  /** The value is the path of a file, whose text the command gets. */
  readonly isFile?: true;
  /** Still taken, but not shown by the help: another option replaced it. */
  readonly isFormer?: true;
}

/** A word behind the name of a command. */
export interface OperandDeclaration {
  readonly name: string;
  readonly about: string;
  /** May be left out. */
  readonly isOptional?: true;
  /** It is a path, which the command gets in full: the gateway reads the file, which may be larger than memory. */
  readonly isPath?: true;
  /** May be left out where one of these options is there. */
  readonly insteadOf?: readonly string[];
}

/** What a command takes. `node:util parseArgs` reads the command line by it, and the help is made of it. */
export interface CommandDeclaration {
  /** What it does, in one sentence without a full stop. */
  readonly about: string;
  readonly operands?: readonly OperandDeclaration[];
  readonly options?: Readonly<Record<string, OptionDeclaration>>;
  /** Further sentences of the help. */
  readonly notes?: readonly string[];
  /** What stands behind the name of the program in an example. */
  readonly example: string;
}

/** Options that every command takes. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionDeclaration>> = {
  json: { about: 'Prints JSON also on a terminal' },
  help: { about: 'Says how the command is used; -h is the same' },
};
