import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import {
  howToRepeat,
  type OperatorReply,
  type OperatorRequest,
  type Print,
} from './operator-request.js';

const UNANSWERED =
  'The gateway ended before it answered. See by actions and ledger what was done before you run the command again.';

const NOT_ACCEPTING =
  'The gateway on this data folder does not take commands now. Nothing was done.';
/** The longest wait for the greeting. */
const GREETING_TIMEOUT_MS = 10_000;

/**
 * Has the gateway behind this socket run the command; undefined where no gateway takes it. It loads nothing of the gateway,
 * so that a command takes milliseconds. When the gateway ends before it answers, the reply says so: the command may have been
 * done.
 *
 * Nothing is sent before the gateway greets, so that one that hangs does not find a command later whose user has given up and
 * run it again. `print` takes an answer that is a text of any length, piece by piece.
 */
export async function askRunningGateway(
  path: string,
  request: OperatorRequest,
  print: Print,
  timeoutMs = GREETING_TIMEOUT_MS,
): Promise<OperatorReply | undefined> {
  const socket = connect(path);
  const signal = AbortSignal.timeout(timeoutMs);
  // The caller that waits for the socket gets the error.
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    await once(socket, 'readable', { signal });
  } catch {
    socket.destroy();
    return signal.aborted ? { error: NOT_ACCEPTING } : undefined;
  }
  if (socket.readableLength === 0) {
    socket.destroy();
    return undefined;
  }
  socket.end(JSON.stringify({ ...request, takesPieces: true }));
  try {
    return await replyFrom(socket, print);
  } catch {
    return { error: UNANSWERED + howToRepeat(request) };
  } finally {
    socket.destroy();
  }
}

/** The reply is the last line; those before it are pieces of a text. */
async function replyFrom(socket: Socket, print: Print): Promise<OperatorReply> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.write(bytes)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') await print((JSON.parse(line) as { piece: string }).piece);
    }
  }
  return JSON.parse(rest) as OperatorReply;
}
