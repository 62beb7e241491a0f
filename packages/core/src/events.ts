import type { ContentBlock, Label, ToolResult } from './call.ts'

/** What a stream of one call yields, in order; `call-ended` is last and comes exactly once. */
export type CallEvent<T = unknown> =
  | { readonly type: 'call-started'; readonly callId: string; readonly tool: string }
  | { readonly type: 'approval-requested'; readonly callId: string; readonly request: ApprovalRequest }
  /** Somebody has answered; nobody else needs to. */
  | {
      readonly type: 'approval-answered'
      /** Id of the call, the same in all its events. */
      readonly callId: string
      /** Id of the request. */
      readonly approval: string
      /** What was answered. */
      readonly decision: ApprovalReply['decision']
      /** Who answered. */
      readonly by: string
      /** How the answer arrived, such as `console`, `cli` or `mcp`. */
      readonly via?: string
      /** The approver changed the arguments. */
      readonly changed?: true
    }
  | { readonly type: 'question-asked'; readonly callId: string; readonly request: QuestionRequest }
  /** Somebody has answered, or without `by` nobody will any more. */
  | {
      readonly type: 'question-answered'
      /** Id of the call, the same in all its events. */
      readonly callId: string
      /** Id of the request. */
      readonly question: string
      /** Who answered; absent when nobody will any more. */
      readonly by?: string
      /** The way the answer came, such as `console`, `cli` or `mcp`. */
      readonly via?: string
    }
  /** Somebody else has to do it now, such as the client; the call continues when they answer. */
  | { readonly type: 'call-pending'; readonly callId: string; readonly tool: string; readonly message: string }
  | { readonly type: 'call-progressed'; readonly callId: string; readonly content: readonly ContentBlock[] }
  | { readonly type: 'call-ended'; readonly callId: string; readonly result: ToolResult<T> }

/** A question to a person: may this exact call happen? */
export interface ApprovalRequest {
  /** Answer with this id: `hub.approvals.reply(id, …)`. */
  readonly id: string
  /** Id of the call that waits. */
  readonly callId: string
  /** Id of the run that the call belongs to. */
  readonly run: string
  /** The session of the call; absent when the caller named none. */
  readonly session?: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** The final arguments, validated, with secrets removed. */
  readonly input: unknown
  /** `write:fs /srv/notes.md`, one line a target. */
  readonly targets: readonly string[]
  /** The rule that asks. */
  readonly rule: string
  /** Why the rule asks, for people. */
  readonly reason: string
  /** Who calls, as the caller says. */
  readonly caller: string
  /** Where in a model's script the call is made; absent for direct calls. */
  readonly script?: ScriptPlace
  /** The authenticated caller, where several share a transport; nobody answers for their own calls. */
  readonly principal?: string
  /** Why the call is made, as the caller says; absent when it does not. */
  readonly purpose?: string
  /** Of the request of the caller, as it says. */
  readonly requestId?: string
  /** Of the task of the caller, as it says. */
  readonly taskId?: string
  /** Of the goal of the caller, as it says. */
  readonly goalId?: string
  /** What skills asked for that touches this call; information, never a grant. */
  readonly requests: readonly string[]
  /** Where the run's content comes from, when that matters. */
  readonly labels: readonly Label[]
  /** What the run has read from outside, at most 20 sources: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly taintedBy?: readonly string[]
  /**
   * What is dangerous about the call, in words, the most dangerous first: `Deletes files`. Absent where nothing is
   * known to be.
   */
  readonly risks?: readonly string[]
  /** What the arguments mean: the diff of an edit, the parts of a command, the address of a URL. */
  readonly views: readonly ApprovalView[]
  /** The calls of the run so far, newest first, at most 10. */
  readonly history: readonly RecentCall[]
  /**
   * The arguments that nothing shows to come from the user, where that is why the call asks: the run has read content from
   * outside.
   */
  readonly unproven?: readonly string[]
  /** What a remembered answer would cover, in words, by the value of `covers`; what is absent cannot be covered. */
  readonly coverage: {
    /** This exact call. */
    readonly exact: string
    /** Calls on the same targets. */
    readonly targets?: string
    /** Calls that match a pattern. */
    readonly pattern?: string
    /** Values of arguments. */
    readonly values?: string
  }
  /** Binds the answer to tool, final input, targets and sandbox level. */
  readonly hash: string
  /** When the request was made, as ISO 8601. */
  readonly askedAt: string
  /** An answer that comes later is too late. */
  readonly expiresAt: string
}

/** A place in a script that a model wrote. */
export interface ScriptPlace {
  /** Id of the script: that of the call that started it. */
  readonly id: string
  /** SHA-256 of its source. */
  readonly sha256: string
  /** Which call of the script it is, from 1. */
  readonly seq: number
  /** The line of the source that makes the call, from 1; absent if it is not known. */
  readonly line?: number
  /** In an approval request: the artifact of the run with the source, without secrets; absent if it could not be stored. */
  readonly source?: string
}

/** What a call would do, as a person reads it best. */
export type ApprovalView =
  /** A command as policy reads it: its parts in order, the one that decided marked. */
  | {
      readonly kind: 'command'
      /** The whole command line. */
      readonly command: string
      /** Folder it would run in. */
      readonly cwd?: string
      /** The simple commands of the line, in order. */
      readonly parts: ReadonlyArray<{
        /** The simple command as it was written. */
        readonly text: string
        /** What policy decided for this part alone. */
        readonly effect: 'allow' | 'ask' | 'deny'
        /** The rule that decided this part. */
        readonly rule: string
        /** Whether this part made the decision for the whole line: of the strictest parts the most dangerous. */
        readonly decides: boolean
        /**
         * What is dangerous about this part, in words, the most dangerous first; absent where nothing is known to be.
         */
        readonly risks?: readonly string[]
      }>
      /** What is known of how it will end in the sandbox, such as a host that it cannot reach. */
      readonly notes?: readonly string[]
    }
  /** What would change in a file, as a unified diff. */
  | { readonly kind: 'diff'; readonly path: string; readonly diff: string; readonly isNew: boolean }
  /** Where a request would go, and the addresses that the name has now. */
  | { readonly kind: 'url'; readonly url: string; readonly addresses: readonly string[]; readonly problem?: string }

/** A call that has ended, in short. */
export interface RecentCall {
  /** Id of the call, as records name it. */
  readonly callId: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** How the call ended. */
  readonly status: ToolResult['status']
  /** What it did in one line, where that is known. */
  readonly summary?: string
}

/** The answer of a person or of the code that stands for one. */
export interface ApprovalReply {
  /** `allow` runs the call, `deny` ends it with `APPROVAL_DENIED`. */
  readonly decision: 'allow' | 'deny'
  /** How long the answer holds. Default: `once`. */
  readonly remember?: 'once' | 'session' | 'always' | { readonly until: string }
  /**
   * What a remembered answer covers: this exact call, or any call of the tool on the same targets. With a yes also every
   * call that matches `coverage.pattern`, such as `git add <any files in the roots>`, or the values of `coverage.values`,
   * together, if everything else comes from the user. Default: `exact`.
   */
  readonly covers?: 'exact' | 'targets' | 'pattern' | 'values'
  /** Returned to the model with a denial, and recorded. */
  readonly reason?: string
  /** Who answers; recorded. Default: `approver`. */
  readonly by?: string
  /** The way it came: console, cli, websocket, webhook, mcp, terminal. Default: `library`. */
  readonly via?: string
  /** With a yes: other arguments, which are checked and judged again before they run. */
  readonly input?: unknown
}

/** Something a tool asks the person behind the agent, while it waits for the answer. */
export interface QuestionRequest {
  /** Answer with this id: `hub.questions.reply(id, …)`. */
  readonly id: string
  /** Id of the call that waits for the answer. */
  readonly callId: string
  /** Id of the run that the call belongs to. */
  readonly run: string
  /** Canonical name of the tool that asks. */
  readonly tool: string
  /** Who calls, as the caller says. */
  readonly caller: string
  /** The authenticated caller, where several share a transport. */
  readonly principal?: string
  /** The question as the person reads it. */
  readonly question: string
  /** What the person needs to know to answer. */
  readonly context?: string
  /** Answers to choose from; the person may give another one. */
  readonly options?: readonly string[]
  /** Taken when nobody answers in time. */
  readonly defaultAnswer?: string
  /** Flat JSON Schema, where more than a text is wanted. */
  readonly form?: Readonly<Record<string, unknown>>
  /** When the question was asked, as ISO 8601. */
  readonly askedAt: string
  /** Until when an answer counts, as ISO 8601; then `defaultAnswer` is taken, or the question fails. */
  readonly expiresAt: string
}
