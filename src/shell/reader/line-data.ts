/** What a text of a line may hold: only one with a dollar sign or a backtick can carry a command. */
export interface Source {
  /** It may hold one whatever the variables hold: it is written there, or comes from outside of the line. */
  readonly isUnsafe: boolean
  /** Variables whose values it takes up. `@` stands for all positional parameters, `wc()` for a program that prints numbers. */
  readonly names: ReadonlySet<string>
}

/** Text that bash evaluates when it runs, and that may hold a command then. */
export interface Evaluation {
  /** As it is written. */
  readonly text: string
  readonly reason: string
}

export const SAFE: Source = { isUnsafe: false, names: new Set() }
export const UNSAFE: Source = { isUnsafe: true, names: new Set() }

/** Variables of the shell itself that hold names of files, words of the line, or what was read. */
const ALWAYS_UNSAFE =
  '_ 0 PWD OLDPWD DIRSTACK BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME'
/** A value that these are given is evaluated as arithmetic. */
const INTEGERS = 'RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND EPOCHSECONDS EPOCHREALTIME BASHPID BASH_SUBSHELL'
/** Variables that say which code runs, or that hold code: of shells, the loader, languages, git, pagers and editors. */
const CODE = new RegExp(
  `^(?:${[
    'PATH|CDPATH|FPATH|ENV|BASH_ENV|BASH_FUNC_.*|BASH_ALIASES|BASH_CMDS|BASH_LOADABLES_PATH|SHELLOPTS|BASHOPTS|SHELL|IFS',
    'PROMPT_COMMAND|PS[0-4]|MAILPATH|FCEDIT|INPUTRC|HOME|ZDOTDIR|XDG_CONFIG_.*|EXECIGNORE',
    'LD_.*|DYLD_.*|GCONV_PATH|GIT_.*|PAGER|.*_PAGER|MANPAGER|LESS|LESSOPEN|LESSCLOSE|.*EDITOR|VISUAL|BROWSER',
    'NODE_OPTIONS|NODE_PATH|npm_config_.*|PYTHON.*|PIP_.*|PERL5.*|PERLLIB|RUBY.*|GEM_.*|BUNDLE_.*|CLASSPATH|.*JAVA_.*OPTIONS',
    'GOFLAGS|GOROOT|GOTOOLCHAIN|RUSTC.*|CARGO_.*|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|.*_ASKPASS|.*_RSH|TAR_OPTIONS|WGETRC|CURL_HOME',
  ].join('|')})$`,
  'i',
)

/** All that several texts may hold. */
export function joinSources(sources: readonly Source[]): Source {
  return {
    isUnsafe: sources.some(({ isUnsafe }) => isUnsafe),
    names: new Set(sources.flatMap(({ names }) => [...names])),
  }
}

/**
 * Follows values through a line: from where they are written to where bash evaluates them a second time, as it does with
 * arithmetic, subscripts and prompts. The order of the commands does not count, as loops and functions change it.
 */
export class LineData {
  readonly #values = new Map<string, Source[]>()
  readonly #evaluated: { readonly text: string; readonly source: Source }[] = []
  readonly #calls: { readonly name: string; readonly source: Source }[] = []
  readonly #integers = new Set(INTEGERS.split(' '))
  readonly #certain: Evaluation[] = []

  /** A variable is set; `undefined` if which one is only known at run time. `isPlain`: by `NAME=value`, which is judged by itself. */
  assign(name: string | undefined, source: Source, text: string, isPlain = false): void {
    if (name === undefined) {
      this.#certain.push({ text, reason: 'which variable it sets is only known when it runs' })
      return
    }
    if (!isPlain && isCodeVariable(name)) this.#certain.push({ text, reason: `it sets ${name}` })
    const values = this.#values.get(name)
    if (values === undefined) this.#values.set(name, [source])
    else values.push(source)
  }

  /** Bash evaluates a text. */
  evaluate(text: string, source: Source): void {
    this.#evaluated.push({ text, source })
  }

  /** A command is called with words; if it is a function, these are its positional parameters. */
  call(name: string, source: Source): void {
    this.#calls.push({ name, source })
  }

  /** A variable whose values are evaluated as arithmetic. */
  declareInteger(name: string): void {
    this.#integers.add(name)
  }

  /** It may set any variable by another name. */
  declareReference(text: string): void {
    this.#certain.push({ text, reason: 'it gives a variable a second name' })
  }

  /** What may run a command when it is evaluated, once the whole line is read. */
  findEvaluations(functions: ReadonlySet<string>): readonly Evaluation[] {
    for (const { name, source } of this.#calls) if (functions.has(name)) this.assign('@', source, name)
    const unsafe = this.#unsafeNames(functions)
    const isUnsafe = ({ isUnsafe: own, names }: Source) => own || [...names].some((name) => unsafe.has(name))
    const found = this.#evaluated
      .filter(({ source }) => isUnsafe(source))
      .map(({ text }) => ({ text, reason: 'what it evaluates may hold a command' }))
    for (const name of this.#integers)
      if (this.#values.get(name)?.some(isUnsafe))
        found.push({ text: name, reason: 'the value that it is given is evaluated, and may hold a command' })
    return [...this.#certain, ...found]
  }

  /** Names whose values may hold a command: unsafe ones, and those that take up the value of one. */
  #unsafeNames(functions: ReadonlySet<string>): ReadonlySet<string> {
    const unsafe = new Set([...ALWAYS_UNSAFE.split(' '), ...[...functions].map((name) => `${name}()`)])
    const users = new Map<string, string[]>()
    const queue = [...unsafe]
    for (const [name, sources] of this.#values)
      for (const { isUnsafe, names } of sources) {
        if (isUnsafe) queue.push(name)
        for (const used of names) users.set(used, [...(users.get(used) ?? []), name])
      }
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      unsafe.add(name)
      for (const user of users.get(name) ?? []) if (!unsafe.has(user)) queue.push(user)
    }
    return unsafe
  }
}

/** Says whether a variable may make other code run than the words say. */
export function isCodeVariable(name: string): boolean {
  return CODE.test(name)
}
