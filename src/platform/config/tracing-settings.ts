import { baseUrl, type Reading, secret, setting, text } from './setting.js';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/** A share from 0 to 1, as a decimal number. */
function share(value: string): Reading<number> {
  const number = /^\d{1,3}(\.\d{1,9})?$/.test(value) ? Number(value) : NaN;
  return number >= 0 && number <= 1 ? { value: number } : { problem: 'must be from 0 to 1' };
}

/** Pairs `name=value` with commas between them, whose values may be percent-encoded, as OpenTelemetry writes them. */
function headerPairs(value: string): Reading<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const pair of value.split(',')) {
    const [name = '', ...rest] = pair.split('=');
    const decoded = decodedText(rest.join('=').trim());
    const isHeader = rest.length > 0 && HEADER_NAME.test(name.trim());
    if (!isHeader || decoded === undefined || !HEADER_VALUE.test(decoded)) {
      return { problem: 'must be pairs such as authorization=Bearer%20token, with commas between' };
    }
    headers[name.trim()] = decoded;
  }
  return { value: headers };
}

function decodedText(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Settings of the traces that go to a collector of OpenTelemetry. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    'otlpEndpoint',
    'unset',
    undefined,
    baseUrl,
    'Collector of OpenTelemetry, such as `http://127.0.0.1:4318`: spans go to `/v1/traces` below it as OTLP over HTTP ([traces](../operate/operations.md#traces)). Unset: no traces',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    setting(
      'otlpHeaders',
      'unset',
      undefined,
      headerPairs,
      'Headers for the collector, such as `authorization=Bearer%20token`, separated by commas',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    'tracedShare',
    '0.1',
    0.1,
    share,
    'The share of requests that are traced, from 0 to 1. Where the caller sends a `traceparent`, its flag decides',
  ),
  OTEL_SERVICE_NAME: setting(
    'otelServiceName',
    'shim-gateway',
    'shim-gateway',
    text(),
    'The name of the gateway in traces',
  ),
} as const;
