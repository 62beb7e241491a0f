// The SDK's low-level server with one tool, over stdio: the floor.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { answerEcho } from '../lib/answer-echo.mjs'

serveStdio(() => answerEcho(new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } }), 1))
