import type { FeatureOptions, FeatureServices } from './feature.ts'

/** A command to which a feature adds its arguments, options and actions; every method returns the command for the next one. */
export interface CommandBuilder {
  /** Adds a command below this one, and returns the new one. */
  command(name: string): CommandBuilder
  /** One line for the list of commands. */
  summary(text: string): CommandBuilder
  /** The text above the arguments and options. */
  description(text: string): CommandBuilder
  /** Adds an argument: `<id>` is required, `[id]` optional, `<words...>` takes the rest. */
  argument(name: string, description: string): CommandBuilder
  /** Adds an option: `--limit <number>`, or `--json` without a value. */
  option(flags: string, description: string, defaultValue?: string): CommandBuilder
  /** Adds an option that must be given. */
  requiredOption(flags: string, description: string): CommandBuilder
  /** Adds an option that `CommandKit.choice` made. */
  addOption(option: CommandOption): CommandBuilder
  /** Adds text below the options. */
  addHelpText(position: 'after', text: string): CommandBuilder
  /** What the command does with its arguments and options. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has parameters of its own, one for each argument and one for the options.
  action(act: (...values: any[]) => void | Promise<void>): CommandBuilder
}

/** A command of a group: its help, its work, and how it shows the outcome to people. With `--json` it prints the outcome. */
export interface CommandDescription<Flags, Words extends readonly unknown[], Outcome> {
  /** Its name; `list` is what the group does when it is called alone. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The text above the arguments and options. Default: the summary as a sentence. */
  readonly description?: string
  /** It makes calls, so it also has `--root`, `--run`, `--yes` and `--wait`. */
  readonly makesCalls?: boolean
  /** Its arguments in order, such as `<id>`, and what each is. */
  readonly words?: Readonly<Record<string, string>>
  /** Adds its own options; every command has `--config`, `--json` and `--debug`. */
  options?(command: CommandBuilder): unknown
  /** The text below the options. */
  readonly help?: string
  /** Does the work. Its parameters are the options and the arguments. */
  run(flags: Flags, ...words: Words): Outcome | Promise<Outcome>
  /** What `--json` prints. Default: the outcome. */
  toJson?(outcome: Outcome): unknown
  /** The outcome as text for stdout; nothing if it has shown the outcome itself. */
  show(outcome: Outcome, flags: Flags, ...words: Words): string | void | Promise<void>
}

/** An option of a command. */
export interface CommandOption {
  readonly flags: string
}

/** The command of a feature, which `commands.ts` exports as `<name>Command`: adds its arguments, options and actions. */
export type FeatureCommand = (command: CommandBuilder, kit: CommandKit) => void

/** What the command line provides to the commands of features. */
export interface CommandKit {
  /** Creates the hub that the config describes (`config`, or that of the folder `root`), and closes it when `use` is done. */
  withHub<T>(flags: Pick<CallFlags, 'config' | 'root'>, use: (hub: FeatureServices) => T | Promise<T>): Promise<T>
  /** The same on the store of the service: work of other principals that is done here has the rights they have now. */
  withServiceHub<T>(
    flags: CommandFlags,
    use: (hub: FeatureServices, options: FeatureOptions) => T | Promise<T>,
  ): Promise<T>
  /**
   * The same for a command that makes calls as `tool-hub call` does: in the current folder, with progress on stderr. The
   * person at the terminal is asked for approvals; without one, requests wait for `tool-hub approvals`. `sections` take the
   * place of keys of the config. `call` returns the data of the result, and throws if the call failed.
   */
  withCalls<T>(
    flags: CallFlags,
    sections: FeatureOptions,
    use: (call: (tool: string, input: unknown) => Promise<unknown>) => Promise<T>,
  ): Promise<T>
  /** Adds a command to a group. */
  addCommand<Flags extends CommandFlags, Words extends readonly unknown[], Outcome>(
    group: CommandBuilder,
    description: CommandDescription<Flags, Words, Outcome>,
  ): void
  /** Adds `--config`. */
  addConfigOption(command: CommandBuilder): CommandBuilder
  /** An option whose value is one of these. */
  choice(flags: string, description: string, choices: readonly string[], defaultValue?: string): CommandOption
  /** Reads the number of an option; throws a usage error if the text is none. */
  parseCount(option: string, text: string): number
  /** Reads the time of an option, such as `5m`, in milliseconds; throws a usage error if the text is none. */
  parseTime(option: string, text: string): number
  /** Writes text to stdout. */
  print(text: string): Promise<void>
  /** Writes bytes to stdout. */
  printBytes(bytes: Uint8Array): Promise<void>
  /** Writes a value to stdout as JSON: one line, or indented on a terminal. */
  printJson(value: unknown): Promise<void>
  /** Writes a value to stdout as one line of JSON. */
  printJsonLine(value: unknown): Promise<void>
  /** Writes a message for people to stderr. */
  say(text: string): void
  /** Writes an error to stderr, with what to do about it. */
  sayError(message: string, hint?: string): void
  /** Rows as aligned columns; control characters are shown as escapes. */
  table(rows: readonly (readonly string[])[]): string
  /** Writes rows to stdout as a table. Without rows, says `empty` on stderr. */
  printTable(rows: readonly (readonly string[])[], empty: string): Promise<void> | void
  /** A time to the minute, in UTC: `2027-01-31 09:00`. */
  minuteOf(time: number): string
  /** `1 note`, `2 notes`. */
  countNoun(amount: number, noun: string): string
  /** The error for a wrong use of the command; its exit code is 2. */
  usageError(message: string, hint?: string): Error
  /** Who calls, as the records name it: `cli:<user>`. */
  callerName(): string
  /** Whether a person at a terminal can be asked. */
  canAsk(): boolean
  /** Asks the person at the terminal to choose; `undefined` if the person interrupts the command. */
  select<Value extends string>(question: SelectQuestion<Value>): Promise<Value | undefined>
  /** Asks the person at the terminal for a text; `undefined` if the person interrupts the command. */
  askText(question: { readonly message: string; readonly initialValue?: string }): Promise<string | undefined>
  /** Writes a file that must not exist; throws a usage error otherwise. */
  writeNewFile(file: string, text: string): Promise<void>
  /** All of stdin. */
  readStdin(): Promise<string>
  /** The text of a file, or all of stdin for `-`; throws a usage error if it cannot be read. */
  readTextFile(file: string): Promise<string>
  /** The value of a JSON text; throws a usage error that begins with `what` if it is none. */
  parseJson(text: string, what: string): unknown
  /** The exit codes of commands. */
  readonly exitCodes: {
    readonly ok: number
    readonly failed: number
    readonly denied: number
    readonly unapproved: number
  }
  /** Reads a file of JSON lines, or stdin for `-`; blank lines are skipped. */
  readJsonLines(file: string): AsyncIterable<JsonLine>
  /** Aborts at the first Ctrl-C or SIGTERM. */
  interruptSignal(): AbortSignal
  /** Aborts when stdout takes nothing more, because its reader has ended. */
  readonly readerGone: AbortSignal
}

/** The options of every command. */
export interface CommandFlags {
  /** The config file. Default: the nearest one. */
  readonly config?: string
  /** Prints JSON instead of text for people. */
  readonly json?: boolean
}

/** The options of a command that makes calls. */
export interface CallFlags extends CommandFlags {
  /** The folder that tools may read and write. */
  readonly root?: string
  /** The run to record into. Default: a new one. */
  readonly run?: string
  /** Approves every call that needs approval. */
  readonly yes?: boolean
  /** How long requests wait for `tool-hub approvals`, such as `5m`. */
  readonly wait?: string
}

/** A choice for the person at the terminal. */
export interface SelectQuestion<Value extends string> {
  readonly message: string
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly initialValue: Value
}

/** A line of a file of JSON lines: its value, or why it has none. */
export type JsonLine =
  | { readonly number: number; readonly value: Readonly<Record<string, unknown>> }
  | { readonly number: number; readonly problem: string }
