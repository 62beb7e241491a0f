// Generated from default.yaml by scripts/generate-default-policy.mjs; do not edit.
import type { SourcedRule } from '@tool-hub/core'

/** The shipped policy: what always holds, and what holds where the owner says nothing. */
export const DEFAULT_POLICY: { readonly always: readonly SourcedRule[]; readonly defaults: readonly SourcedRule[] } = {
  "always": [
    {
      "rule": {
        "deny": "read:fs",
        "on": [
          "~/.ssh/**",
          "**/*.pem",
          "**/*.key",
          "**/.env",
          "**/.env.*"
        ],
        "except": [
          "**/.env.{example,sample,template,dist,schema,default,defaults}"
        ],
        "reason": "Keys and credentials never reach a model."
      },
      "source": {
        "file": "shipped policy",
        "line": 10
      },
      "base": "/"
    },
    {
      "rule": {
        "deny": "write:fs",
        "on": [
          "~/.ssh/**",
          "**/.git/**",
          "~/.{bashrc,bash_profile,bash_login,bash_logout,profile}",
          "~/.{zshrc,zshenv,zprofile,zlogin,zlogout}",
          "~/.config/fish/**",
          "**/.envrc",
          "**/.mcp.json",
          "**/.vscode/**",
          "**/{.idea,.fleet,.zed,.vs,.helix}/**",
          "**/{.husky,.githooks,.git-hooks,.lefthook}/**",
          "**/{.devcontainer,.direnv,.idx,.mise}/**",
          "**/{.claude,.codex,.cursor,.gemini,.windsurf,.kiro,.amazonq,.opencode,.qwen,.crush}/**",
          "**/opencode.{json,jsonc}",
          "**/tool-hub.{yaml,yml,json,json5,jsonc,mjs}",
          "**/.tool-hub/**"
        ],
        "reason": "This file can run code later or change the rules, so tools may not write it."
      },
      "source": {
        "file": "shipped policy",
        "line": 15
      },
      "base": "/"
    },
    {
      "rule": {
        "deny": "danger:destructive",
        "on": [
          "~/.ssh/**",
          "**/.git/**",
          "~/.{bashrc,bash_profile,bash_login,bash_logout,profile}",
          "~/.{zshrc,zshenv,zprofile,zlogin,zlogout}",
          "~/.config/fish/**",
          "**/.envrc",
          "**/.mcp.json",
          "**/.vscode/**",
          "**/{.idea,.fleet,.zed,.vs,.helix}/**",
          "**/{.husky,.githooks,.git-hooks,.lefthook}/**",
          "**/{.devcontainer,.direnv,.idx,.mise}/**",
          "**/{.claude,.codex,.cursor,.gemini,.windsurf,.kiro,.amazonq,.opencode,.qwen,.crush}/**",
          "**/opencode.{json,jsonc}",
          "**/tool-hub.{yaml,yml,json,json5,jsonc,mjs}",
          "**/.tool-hub/**"
        ],
        "reason": "This file can run code later or change the rules, so tools may not overwrite or delete it."
      },
      "source": {
        "file": "shipped policy",
        "line": 34
      },
      "base": "/"
    },
    {
      "rule": {
        "deny": "network",
        "on": [
          "169.254.169.254",
          "[fd00:ec2::254]",
          "168.63.129.16",
          "100.100.100.200",
          "metadata.google.internal"
        ],
        "reason": "Cloud metadata hands out credentials of the machine."
      },
      "source": {
        "file": "shipped policy",
        "line": 38
      },
      "base": "/"
    }
  ],
  "defaults": [
    {
      "rule": {
        "ask": "write:fs",
        "on": [
          "**/node_modules/**"
        ],
        "reason": "Programs run what is in node_modules without looking at it."
      },
      "source": {
        "file": "shipped policy",
        "line": 48
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "read:fs",
        "reason": "The files guard admits only the sandbox roots."
      },
      "source": {
        "file": "shipped policy",
        "line": 52
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "write:fs",
        "reason": "The files guard admits only the sandbox roots, and creating a file destroys nothing."
      },
      "source": {
        "file": "shipped policy",
        "line": 55
      },
      "base": "/"
    },
    {
      "rule": {
        "deny": "danger:destructive",
        "reason": "Overwriting and deleting are off until a rule of yours enables them."
      },
      "source": {
        "file": "shipped policy",
        "line": 58
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "network",
        "reason": "The network guard admits only the hosts in sandbox.network, none unless you name them."
      },
      "source": {
        "file": "shipped policy",
        "line": 61
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "send",
        "reason": "The network guard admits only the hosts in sandbox.network, none unless you name them."
      },
      "source": {
        "file": "shipped policy",
        "line": 64
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "send",
        "when": {
          "tainted": true
        },
        "reason": "This run has read content from outside, which may have asked to send your data away."
      },
      "source": {
        "file": "shipped policy",
        "line": 67
      },
      "base": "/"
    },
    {
      "rule": {
        "deny": "exec",
        "reason": "Commands are off until a rule of yours enables them."
      },
      "source": {
        "file": "shipped policy",
        "line": 71
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "memory",
        "reason": "What is remembered shapes later runs."
      },
      "source": {
        "file": "shipped policy",
        "line": 76
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "memory",
        "on": [
          "candidate/*"
        ],
        "reason": "A note that waits for your review shapes nothing yet."
      },
      "source": {
        "file": "shipped policy",
        "line": 79
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "core/memory.recall",
        "reason": "It reads notes of the agent's own scopes and of those that are shared."
      },
      "source": {
        "file": "shipped policy",
        "line": 83
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "session",
        "reason": "An agent sees its own session, those it began, and those they came from."
      },
      "source": {
        "file": "shipped policy",
        "line": 86
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "core/session.spawn",
        "reason": "It starts another agent, which works on its own."
      },
      "source": {
        "file": "shipped policy",
        "line": 89
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "message",
        "reason": "It reaches people, and cannot be taken back."
      },
      "source": {
        "file": "shipped policy",
        "line": 92
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "message",
        "on": [
          "console"
        ],
        "reason": "It stays in your own console."
      },
      "source": {
        "file": "shipped policy",
        "line": 95
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "schedule",
        "reason": "It makes calls later, when nobody looks."
      },
      "source": {
        "file": "shipped policy",
        "line": 99
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "browser",
        "reason": "Pages reach only the hosts in sandbox.network, and nothing of yours is in their profile."
      },
      "source": {
        "file": "shipped policy",
        "line": 102
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "browser",
        "on": [
          "evaluate"
        ],
        "reason": "It runs a script of the model in a page."
      },
      "source": {
        "file": "shipped policy",
        "line": 105
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "browser",
        "on": [
          "type",
          "fill",
          "upload"
        ],
        "when": {
          "tainted": true
        },
        "reason": "This run has read content from outside, which may have asked to put your data into a page."
      },
      "source": {
        "file": "shipped policy",
        "line": 109
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "canvas",
        "reason": "It shows people something in a frame without network."
      },
      "source": {
        "file": "shipped policy",
        "line": 114
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "canvas",
        "on": [
          "script"
        ],
        "when": {
          "tainted": true
        },
        "reason": "This run has read content from outside, which may have asked for a page that gives your data away."
      },
      "source": {
        "file": "shipped policy",
        "line": 117
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "canvas",
        "on": [
          "eval"
        ],
        "reason": "It runs a script of the model on the canvas."
      },
      "source": {
        "file": "shipped policy",
        "line": 122
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "code",
        "reason": "A script does nothing by itself; each of its calls is decided like a direct one."
      },
      "source": {
        "file": "shipped policy",
        "line": 126
      },
      "base": "/"
    },
    {
      "rule": {
        "allow": "discovery",
        "reason": "It shows only tools that the caller sees."
      },
      "source": {
        "file": "shipped policy",
        "line": 129
      },
      "base": "/"
    },
    {
      "rule": {
        "ask": "remote",
        "reason": "It acts through a program that the hub only talks to, so nothing but your word bounds what it does."
      },
      "source": {
        "file": "shipped policy",
        "line": 134
      },
      "base": "/"
    }
  ]
}
