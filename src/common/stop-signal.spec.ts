import { describe, expect, it } from '@jest/globals';
import { type StopSignal, StopSource } from './stop-signal.js';

const sources: Record<string, () => { signal: StopSignal; abort: (reason: unknown) => void }> = {
  StopSource: () => {
    const source = new StopSource();
    return {
      signal: source,
      abort: (reason) => {
        source.abort(reason);
      },
    };
  },
  AbortController: () => {
    const controller = new AbortController();
    return {
      signal: controller.signal,
      abort: (reason) => {
        controller.abort(reason);
      },
    };
  },
};

describe.each(Object.entries(sources))('a stop signal: %s', (_name, make) => {
  it('tells its listeners once, with the first reason', () => {
    const { signal, abort } = make();
    const heard: unknown[] = [];
    signal.addEventListener('abort', () => heard.push(signal.reason), { once: true });
    signal.addEventListener('abort', { handleEvent: () => heard.push('second') });
    expect(signal.aborted).toBe(false);
    abort('first');
    abort('late');
    expect(heard).toEqual(['first', 'second']);
    expect([signal.aborted, signal.reason]).toEqual([true, 'first']);
  });

  it('tells neither a removed listener nor one that comes too late', () => {
    const { signal, abort } = make();
    const heard: string[] = [];
    const removed = () => void heard.push('removed');
    const removedObject = { handleEvent: removed };
    signal.addEventListener('abort', removed);
    signal.addEventListener('abort', removedObject);
    signal.removeEventListener('abort', removed);
    signal.removeEventListener('abort', removedObject);
    abort('now');
    signal.addEventListener('abort', () => heard.push('late'));
    expect(heard).toEqual([]);
  });

  it('throws its reason only when aborted', () => {
    const { signal, abort } = make();
    expect(() => {
      signal.throwIfAborted();
    }).not.toThrow();
    const reason = new Error('stop');
    abort(reason);
    expect(() => {
      signal.throwIfAborted();
    }).toThrow(reason);
  });
});

describe('a stop source with a parent', () => {
  it('aborts with it', () => {
    const parent = new StopSource();
    const child = new StopSource(parent);
    parent.abort('parent');
    expect([child.aborted, child.reason]).toEqual([true, 'parent']);
    expect(new StopSource(parent).reason).toBe('parent');
  });

  it('aborts without it', () => {
    const parent = new StopSource();
    const child = new StopSource(parent);
    child.abort('child');
    parent.abort('parent');
    expect([parent.reason, child.reason]).toEqual(['parent', 'child']);
  });
});
