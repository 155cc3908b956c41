import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { coreFiles, untouchedOperations } from './support/built/core-endpoints.js';

const core = coreFiles();
const ELSEWHERE = 'test/faults/database-gone.e2e-spec.ts';
const [first = ''] = core;
let notes: string;

beforeEach(() => {
  process.env.TEST_FOLDERS = mkdtempSync(join(tmpdir(), 'notes-'));
  notes = join(process.env.TEST_FOLDERS, 'operations.jsonl');
});

function ran(files: readonly string[], ...calls: object[]) {
  const lines = [...files.map((file) => ({ file })), ...calls];
  writeFileSync(notes, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  return untouchedOperations();
}

describe('what the core of npm test leaves uncalled', () => {
  it('is every operation but those that one of its files has called', () => {
    expect(core).not.toContain(ELSEWHERE);
    const none = ran(core);
    expect(none).toContain('GET /v1/models/{}');
    const rest = ran(
      [...core, ELSEWHERE],
      { file: first, operation: 'GET /v1/models/{}' },
      { file: ELSEWHERE, operation: 'POST /v1/videos' },
    );
    expect(rest).toEqual(none?.filter((operation) => operation !== 'GET /v1/models/{}'));
  });

  it('is not told by a run of some of its files', () => {
    expect(ran(core.slice(1))).toBeUndefined();
  });
});
