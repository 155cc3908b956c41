import { useEffect, useRef, useState } from 'preact/hooks';
import { endSessionOn, queries } from '../../shared/queries.js';
import { type Answered, type FormCall, isAbort, sendCall } from './send.js';

/** A call under way, ended, or none yet. */
export interface RunningCall {
  readonly state: 'none' | 'running' | 'answered' | 'failed' | 'stopped';
  /** What was streamed so far. */
  readonly text: string;
  readonly answered?: Answered;
  readonly error?: unknown;
}

const NONE: RunningCall = { state: 'none', text: '' };

/** One call at a time. It ends when it is stopped, and when its screen is left. */
export function useCall() {
  const [call, setCall] = useState<RunningCall>(NONE);
  const running = useRef<AbortController>();
  useEffect(() => () => running.current?.abort(), []);
  const run = (sent: FormCall) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const onText = (piece: string) => {
      if (piece !== '' && !signal.aborted) {
        setCall((before) => ({ ...before, text: before.text + piece }));
      }
    };
    setCall({ state: 'running', text: '' });
    sendCall(sent, { signal, onText }).then(
      (answered) => {
        setCall(({ text }) => ({ state: 'answered', text, answered }));
        void queries.invalidateQueries({ queryKey: ['account'] });
      },
      (error: unknown) => {
        endSessionOn(error);
        setCall(({ text }) =>
          isAbort(error) ? { state: 'stopped', text } : { state: 'failed', text, error },
        );
      },
    );
  };
  const stop = () => running.current?.abort();
  return { call, run, stop };
}
