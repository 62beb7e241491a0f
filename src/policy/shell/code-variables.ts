/** Variables that say which code runs, or that hold code: of shells, the loader, languages, git, pagers and editors. */
const CODE =
  /^(?:PATH|CDPATH|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|IFS|LD_.*|DYLD_.*|GIT_.*|PAGER|.*EDITOR|VISUAL|BROWSER|NODE_OPTIONS|NODE_PATH|npm_config_.*|PYTHON.*|PERL5.*|RUBY.*|JAVA_TOOL_OPTIONS|GOFLAGS|RUSTC.*|CARGO_.*|MAKEFLAGS|LESSOPEN|LESSCLOSE|SHELL)$/i

/** Says whether a variable may make other code run than the words say. */
export function isCodeVariable(name: string): boolean {
  return CODE.test(name)
}
