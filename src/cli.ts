#!/usr/bin/env node
// First, and the rest only after it: an older Node.js cannot load the rest.
import '../scripts/require-node.js';

const { runOperatorProgram } = await import('./commands/operator-program.js');
await runOperatorProgram();
