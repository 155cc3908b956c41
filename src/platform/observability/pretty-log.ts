type Fields = Readonly<Record<string, unknown>>;

/**
 * A log line as a person reads it on a terminal: a request in one sentence of at most two rows of 80 columns, with why it was
 * refused; another error response with its code and the provider's message. The ids of account and key are in the JSON lines only.
 */
export function prettyLog(line: Fields): Fields {
  const { time, level, msg, code, param, cause } = line;
  if (msg === 'request') return { time, level, msg: requestSentence(line) };
  if (typeof code !== 'string' || line.execution_id === undefined) return line;
  const said = providerMessage(cause);
  const facts = [code, param, said].filter((fact) => typeof fact === 'string').join(', ');
  const rest = said === undefined && cause !== undefined ? { cause } : {};
  return { time, level, msg: `${String(msg)} (${facts})`, ...rest };
}

function requestSentence(line: Fields): string {
  const { method, route, path, status, model, charged_microusd: charged } = line;
  const provider = milliseconds(line.upstream_ms);
  const took = `${milliseconds(line.duration_ms) ?? ''}${provider ? ` (provider ${provider})` : ''}`;
  const facts = [
    `${String(method)} ${String(path ?? route)} ${String(status)}`,
    line.complete === false && 'the client left',
    took,
    model,
    typeof charged === 'string' && `${charged} micro-USD`,
    line.execution_id,
  ];
  const sentence = facts.filter((fact) => typeof fact === 'string').join(', ');
  if (typeof line.reason !== 'string') return sentence;
  const named = [line.code, line.param].filter((name) => typeof name === 'string').join(', ');
  return `${sentence}: ${line.reason} (${named})`;
}

function milliseconds(value: unknown): string | undefined {
  return typeof value === 'number' ? `${Math.max(1, Math.round(value))} ms` : undefined;
}

/** The message of a provider's failure; its stack has no further information. */
function providerMessage(cause: unknown): string | undefined {
  const { type, message } = (cause ?? {}) as Fields;
  return type === 'ProviderError' && typeof message === 'string' ? message : undefined;
}
