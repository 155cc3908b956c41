import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import { PROVIDER_SETTINGS } from '../platform/config/provider-settings.js';
import { anthropicPorts } from './anthropic/anthropic-ports.js';
import { deepgramPorts } from './deepgram/deepgram-ports.js';
import { elevenLabsPorts } from './elevenlabs/elevenlabs-ports.js';
import { geminiPorts, isGeminiModel } from './gemini/gemini-ports.js';
import { asyncJsonPorts } from './async-json/async-json-ports.js';
import { VENDOR_OPERATIONS } from './async-json/vendor-fields.js';
import type { VendorCost } from './async-json/vendor-file.js';
import { loadVendors, readVendor } from './async-json/vendor-files.js';
import { type OfferedModel, offeredModels } from './async-json/vendor-models.js';
import type { ProviderContext } from './http/provider-context.js';
import { miniMaxPorts } from './minimax/minimax-ports.js';
import { openAiPorts } from './openai/openai-ports.js';
import { openAiVideoPorts } from './openai-video/openai-video-ports.js';
import type { Route } from './ports/attempt.js';
import type { Operation, ProbedPorts } from './ports/provider-ports.js';
import { hasTtapiEndpoint, ttapiPorts } from './ttapi/ttapi-ports.js';

/** A wire protocol, which the adapters of one folder speak. */
interface WireProtocol {
  /** Makes the adapters for one provider. */
  readonly ports: (context: ProviderContext) => ProbedPorts;
  readonly operations: readonly Operation[];
  /** Whether the adapter can send requests for this upstream model. Absent: only the provider knows its model names. */
  readonly knows?: (upstreamModel: string) => boolean;
  /** Its voices are its own, so that a model without voices of its own cannot be spoken there. */
  readonly hasOwnVoices?: true;
  /** It makes songs whose length cannot be asked for, so that they are sold by the song. */
  readonly makesWholeSongs?: true;
  /** Fields of its requests that no row may drop, rename or set: its answers and their length stand on them. */
  readonly fixedFields?: readonly string[];
  /** It takes images of a conversation as bytes, and fetches none. */
  readonly imageBytesOnly?: true;
  /** Its routes of chat may name the protocol of text in which they are asked. */
  readonly hasSeveralTexts?: true;
  /** A provider that speaks it has a file of its own, and no entry of `CATALOG_FILE`. */
  readonly isOfFiles?: true;
}

/** The wire protocols. */
const PROTOCOLS = {
  openai: {
    ports: openAiPorts,
    operations: ['chat', 'image', 'embeddings', 'speech', 'dialogue', 'transcription'],
    hasOwnVoices: true,
    hasSeveralTexts: true,
  },
  anthropic: { ports: anthropicPorts, operations: ['chat'] },
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
  'openai-video': { ports: openAiVideoPorts, operations: ['video'] },
  gemini: {
    ports: geminiPorts,
    operations: ['chat', 'image', 'embeddings', 'speech', 'dialogue', 'video'],
    knows: isGeminiModel,
    hasOwnVoices: true,
    imageBytesOnly: true,
  },
  deepgram: {
    ports: deepgramPorts,
    operations: ['speech', 'transcription'],
    hasOwnVoices: true,
    fixedFields: [
      ...['encoding', 'container', 'sample_rate', 'text'],
      ...['multichannel', 'utterances', 'diarize', 'callback', 'callback_method'],
    ],
  },
  minimax: {
    ports: miniMaxPorts,
    operations: ['speech', 'dialogue', 'composition'],
    hasOwnVoices: true,
    makesWholeSongs: true,
    fixedFields: ['text', 'voice_setting', 'audio_setting', 'output_format', 'stream'],
  },
  'async-json': { ports: asyncJsonPorts, operations: VENDOR_OPERATIONS, isOfFiles: true },
} as const satisfies Record<string, WireProtocol>;

/** The name of a wire protocol. */
export type Protocol = keyof typeof PROTOCOLS;
/** The names of the wire protocols that an entry of `CATALOG_FILE` may have. */
export const PROTOCOL_NAMES = (Object.keys(PROTOCOLS) as Protocol[]).filter((name) => {
  const row: WireProtocol = PROTOCOLS[name];
  return row.isOfFiles !== true;
});

type TextSetting = {
  [Field in keyof GatewayConfig]: GatewayConfig[Field] extends string | undefined ? Field : never;
}[keyof GatewayConfig];

/** A provider that has settings of its own, and that the sandbox replaces where they are unset. */
interface BuiltInProvider {
  readonly protocol: Protocol;
  readonly keySetting: TextSetting;
  readonly urlSetting: TextSetting;
  /** Its base URL at the sandbox, from the root of the sandbox. */
  readonly sandboxPath: `/${string}`;
}

/** The built-in providers by their ids, which routes of the catalog name. Others are in `CATALOG_FILE`. */
const BUILT_IN: Readonly<Record<string, BuiltInProvider>> = {
  openai: {
    protocol: 'openai',
    keySetting: 'openaiApiKey',
    urlSetting: 'openaiBaseUrl',
    sandboxPath: '/openai/v1',
  },
  anthropic: {
    protocol: 'anthropic',
    keySetting: 'anthropicApiKey',
    urlSetting: 'anthropicBaseUrl',
    sandboxPath: '/anthropic',
  },
  video: {
    protocol: 'openai-video',
    keySetting: 'videoApiKey',
    urlSetting: 'videoBaseUrl',
    sandboxPath: '/video/v1',
  },
  elevenlabs: {
    protocol: 'elevenlabs',
    keySetting: 'elevenlabsApiKey',
    urlSetting: 'elevenlabsBaseUrl',
    sandboxPath: '/elevenlabs',
  },
  ttapi: {
    protocol: 'ttapi',
    keySetting: 'ttapiApiKey',
    urlSetting: 'ttapiBaseUrl',
    sandboxPath: '/ttapi',
  },
  gemini: {
    protocol: 'gemini',
    keySetting: 'geminiApiKey',
    urlSetting: 'geminiBaseUrl',
    sandboxPath: '/gemini/v1beta',
  },
};

/** The name of the variable that a setting is read from. */
function variableOf(setting: TextSetting): string {
  const [name = setting] =
    Object.entries(PROVIDER_SETTINGS).find(([, { field }]) => field === setting) ?? [];
  return name;
}

/** The built-in providers with their ids, and the names of the variables that hold their keys. */
export const BUILT_IN_PROVIDERS = Object.entries(BUILT_IN).map(([id, provider]) => ({
  id,
  keyVariable: variableOf(provider.keySetting),
  ...provider,
}));

/** White space at an end or a control character is a typing mistake; no upstream has such a name. */
const NAME = /^[^\s\p{Cc}](.*[^\s])?$/u;

/** A field of a route that its adapter rejects, and the end of the sentence that explains why. */
export interface RouteFault {
  readonly field: 'provider' | 'upstream_model' | 'upstream_protocol';
  readonly says: string;
}

/** The adapters of a provider. */
export function portsOf(protocol: Protocol, context: ProviderContext): ProbedPorts {
  return PROTOCOLS[protocol].ports(context);
}

/** The error in a route according to the adapter of its protocol; undefined if the adapter can send requests for it. */
export function routeFault(
  protocol: Protocol,
  operation: Operation,
  { upstreamModel, upstreamProtocol }: Pick<Route, 'upstreamModel' | 'upstreamProtocol'>,
): RouteFault | undefined {
  const { operations, knows, hasSeveralTexts }: WireProtocol = PROTOCOLS[protocol];
  if (!operations.includes(operation)) {
    return { field: 'provider', says: `speaks ${protocol}, which has no operation ${operation}` };
  }
  if (upstreamProtocol !== undefined && !hasSeveralTexts) {
    return { field: 'upstream_protocol', says: `does not fit a provider that speaks ${protocol}` };
  }
  if (NAME.test(upstreamModel) && (knows?.(upstreamModel) ?? true)) return undefined;
  return { field: 'upstream_model', says: `${upstreamModel} is no name that ${protocol} takes` };
}

/** The fields of the protocol's requests that the terms of a row must not change. */
export function fixedFieldsOf(protocol: Protocol): readonly string[] {
  const { fixedFields = [] }: WireProtocol = PROTOCOLS[protocol];
  return fixedFields;
}

/** Whether images of a conversation have to be sent as bytes. */
export function takesImageBytesOnly(protocol: Protocol): boolean {
  const row: WireProtocol = PROTOCOLS[protocol];
  return row.imageBytesOnly === true;
}

/** Whether the voices of the protocol are none of the premade ones. */
export function hasOwnVoices(protocol: Protocol): boolean {
  const row: WireProtocol = PROTOCOLS[protocol];
  return row.hasOwnVoices === true;
}

/** What the prices of music at the protocol count. */
export function unitOfMusic(protocol: Protocol): 'request' | 'requested_second' {
  const row: WireProtocol = PROTOCOLS[protocol];
  return row.makesWholeSongs ? 'request' : 'requested_second';
}

/** Key and base URL of a built-in provider by the settings; undefined where one of them is unset. */
export function accessTo(
  { keySetting, urlSetting }: BuiltInProvider,
  config: GatewayConfig,
): { readonly apiKey: string; readonly baseUrl: string } | undefined {
  const apiKey = config[keySetting];
  const baseUrl = config[urlSetting];
  return apiKey === undefined || baseUrl === undefined ? undefined : { apiKey, baseUrl };
}

/** What is wrong with a file that describes a vendor, a line each; where nothing is, its id and those of the models that it offers. */
export function checkedVendor(path: string): {
  readonly faults: readonly string[];
  readonly id: string | null;
  readonly models: readonly string[];
} {
  const { faults, vendor } = readVendor(path);
  return { faults, id: vendor?.id ?? null, models: vendor?.models?.map(({ id }) => id) ?? [] };
}

/** Whether a vendor of this id is shipped. */
export function isShippedVendor(id: unknown): boolean {
  return typeof id === 'string' && loadVendors(undefined).has(id);
}

/** The models that vendors of files offer, by their ids: without a price none is sold. Throws ConfigError. */
export function modelsOfVendors(directory: string | undefined): ReadonlyMap<string, OfferedModel> {
  const { models, twice } = offeredModels(loadVendors(directory).values());
  if (twice.length === 0) return models;
  throw new ConfigError(twice.map((id) => `VENDORS_DIR: model ${id}: two files have it`));
}

/** How the figure of the cost in the answers of vendors is read, by the ids of those whose file tells it. */
export function costsOfVendors(directory: string | undefined): ReadonlyMap<string, VendorCost> {
  const vendors = [...loadVendors(directory).values()];
  return new Map(vendors.flatMap(({ id, cost }) => (cost ? [[id, cost] as const] : [])));
}
