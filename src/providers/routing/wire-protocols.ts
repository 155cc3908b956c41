import { elevenLabsPorts } from '../elevenlabs/elevenlabs-ports.js';
import type { ProviderContext } from '../http/provider-context.js';
import { openAiPorts } from '../openai/openai-ports.js';
import { openAiVideoPorts } from '../openai-video/openai-video-ports.js';
import type { Operation, ProviderPorts } from '../ports/provider-ports.js';
import type { Protocol } from '../ports/protocol.js';
import { hasTtapiEndpoint, ttapiPorts } from '../ttapi/ttapi-ports.js';

/** What the gateway knows of a wire protocol. */
interface WireProtocolAdapter {
  readonly ports: (access: ProviderContext) => ProviderPorts;
  readonly operations: readonly Operation[];
  /** Whether the adapter can send requests for this upstream model. Absent: only the provider knows its model names. */
  readonly knows?: (upstreamModel: string) => boolean;
}

const ADAPTERS: Readonly<Record<Protocol, WireProtocolAdapter>> = {
  openai: { ports: openAiPorts, operations: ['chat', 'image'] },
  'openai-video': { ports: openAiVideoPorts, operations: ['video'] },
  elevenlabs: {
    ports: elevenLabsPorts,
    operations: [
      'speech',
      'dialogue',
      'transcription',
      'alignment',
      'voice-change',
      'isolation',
      'sound-effect',
      'composition',
      'dubbing',
    ],
  },
  ttapi: { ports: ttapiPorts, operations: ['song'], knows: hasTtapiEndpoint },
};
/** White space at an end or a control character is a typing mistake; no upstream has such a name. */
const NAME = /^[^\s\p{Cc}](.*[^\s])?$/u;

/** A field of a route that its adapter rejects, and the end of the sentence that explains why. */
export interface RouteFault {
  readonly field: 'provider' | 'upstream_model';
  readonly says: string;
}

/** The adapters of a provider. */
export function portsOf(protocol: Protocol, access: ProviderContext): ProviderPorts {
  return ADAPTERS[protocol].ports(access);
}

/** The error in a route according to the adapter of its protocol; undefined if the adapter can send requests for it. */
export function routeFault(
  protocol: Protocol,
  operation: Operation,
  upstreamModel: string,
): RouteFault | undefined {
  const { operations, knows } = ADAPTERS[protocol];
  if (!operations.includes(operation)) {
    return { field: 'provider', says: `speaks ${protocol}, which has no operation ${operation}` };
  }
  if (NAME.test(upstreamModel) && (knows?.(upstreamModel) ?? true)) return undefined;
  return { field: 'upstream_model', says: `${upstreamModel} is no name that ${protocol} takes` };
}
