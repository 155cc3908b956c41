import { EventEmitter } from 'node:events';
import { Stream } from 'node:stream';
import { currentRequest } from '../../src/platform/http-server/connections/request-context.js';

/** A stream, socket or request that can be broken. */
export type Breakable = Stream & { destroy(error: Error): unknown };

/** Node calls it for every emitter that is made. */
type Init = (this: EventEmitter, options?: object) => void;
const emitters = EventEmitter as unknown as { init: Init };
/** Connections to the database belong to the pool and serve the requests of everybody. */
const NOT_OF_A_REQUEST = '/node_modules/pg/';

/**
 * Reports every stream that is made while a request with this `x-test` header is served, whoever makes it: code of ours,
 * Node, or a library. The stream is reported before its constructor runs. Returns what ends the watch.
 */
export function trackStreams(test: string, onBirth: (stream: Breakable) => void): () => void {
  const { init } = emitters;
  emitters.init = function (options) {
    init.call(this, options);
    if (!(this instanceof Stream) || !('destroy' in this)) return;
    if (currentRequest()?.request.headers['x-test'] !== test) return;
    if (new Error('birth').stack?.includes(NOT_OF_A_REQUEST)) return;
    onBirth(this as Breakable);
  };
  return () => {
    emitters.init = init;
  };
}
