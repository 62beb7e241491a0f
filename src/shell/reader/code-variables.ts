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

/** Says whether a variable may make other code run than the words say. */
export function isCodeVariable(name: string): boolean {
  return CODE.test(name)
}
