import { describe, expect, it } from '@jest/globals';
import type { ChatPart } from '../providers/ports/chat-parts.js';
import { OrderedCalls } from './ordered-calls.js';

const begin = (index: number): ChatPart => ({
  type: 'tool-call',
  index,
  id: `call_${index}`,
  kind: 'function',
  name: 'f',
});
const piece = (index: number, delta: string): ChatPart => ({
  type: 'tool-arguments',
  index,
  delta,
});
const end = (index: number): ChatPart => ({ type: 'tool-end', index });
const finish: ChatPart = { type: 'finish', reason: 'tool_calls' };
const text: ChatPart = { type: 'text', text: 'Hi' };

describe('calls of tools in order', () => {
  it('passes calls that follow each other as they come, and text', () => {
    const calls = new OrderedCalls();
    const parts = [
      text,
      begin(0),
      piece(0, '{}'),
      end(0),
      begin(1),
      piece(1, '{}'),
      end(1),
      finish,
    ];
    for (const part of parts) expect(calls.take([part])).toEqual([part]);
  });

  it('holds back the pieces of a call until the one before it has ended', () => {
    const calls = new OrderedCalls();
    const told = [
      begin(0),
      begin(1),
      piece(1, 'b'),
      piece(0, 'a'),
      end(1),
      begin(2),
      piece(2, 'c'),
    ];
    expect(calls.take(told)).toEqual([begin(0), piece(0, 'a')]);
    expect(calls.take([end(0)])).toEqual([
      end(0),
      begin(1),
      piece(1, 'b'),
      end(1),
      begin(2),
      piece(2, 'c'),
    ]);
    expect(calls.take([piece(2, 'd')])).toEqual([piece(2, 'd')]);
  });

  it('ends every call before the answer ends', () => {
    const calls = new OrderedCalls();
    expect(calls.take([begin(0), begin(1), piece(1, '{}'), finish])).toEqual([
      begin(0),
      end(0),
      begin(1),
      piece(1, '{}'),
      end(1),
      finish,
    ]);
  });

  it('leaves out pieces of a call that never began', () => {
    expect(new OrderedCalls().take([piece(3, 'x'), end(3), text])).toEqual([text]);
  });
});
