import type { ApiFamily } from '../common/errors/api-family.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { Limits } from './model-limits.js';
import type { PriceRule } from './price-rule.js';

type Modality = 'text' | 'image' | 'audio' | 'video' | 'speech' | 'transcription' | 'embeddings';

/** Where an operation is called. */
export interface Endpoint {
  /** Called with POST. */
  readonly path: `/v1/${string}`;
  /** The public codes of its errors. */
  readonly family: ApiFamily;
  /** Its group on the page of the API. */
  readonly tag: 'chat' | 'embeddings' | 'images' | 'videos' | 'audio' | 'music';
  /** Its word in `supported_endpoint_types` (API: GET /v1/models; decision G-90). */
  readonly endpointType: string;
}

/** What the gateway knows about an operation. Its port is the entry of the same name in `PortByOperation`. */
interface OperationRow extends Endpoint {
  /** Its further endpoints, which speak other protocols. */
  readonly faces?: readonly Endpoint[];
  /** One line about its models. */
  readonly description: string;
  /** Modalities in the words of model pickers: only chat models have the output `text`. */
  readonly inputs: readonly Modality[];
  readonly outputs: readonly Modality[];
  /** Whether its requests name a voice. */
  readonly hasVoice: boolean;
  /** What its price counts. */
  readonly unit: PriceRule['unit'];
  /** What the prices of some of its models count instead. */
  readonly otherUnit?: PriceRule['unit'];
  /** Limits that its models must have, and those that they may have. */
  readonly limits: {
    readonly required: readonly (keyof Limits)[];
    readonly optional: readonly (keyof Limits)[];
  };
}

/** A recording, which is measured. */
const RECORDING = {
  hasVoice: false,
  unit: 'measured_second',
  limits: { required: ['maxSeconds'], optional: ['minMicros'] },
} as const;
const SPOKEN_TEXT = {
  hasVoice: true,
  inputs: ['text'],
  outputs: ['speech'],
  unit: 'code_point',
  limits: { required: ['maxInput'], optional: [] },
} as const;
const SOUND_OF_A_LENGTH = {
  hasVoice: false,
  inputs: ['text'],
  outputs: ['audio'],
  unit: 'requested_second',
  limits: { required: [], optional: [] },
} as const;

/** Where images are made of others, by the models that can. */
export const IMAGE_EDITS = {
  path: '/v1/images/edits',
  family: 'general',
  tag: 'images',
  endpointType: 'image-edits',
} as const satisfies Endpoint;

/** The operations that the gateway sells, in the order of lists. A new one is a row here and a port. */
export const OPERATIONS = {
  chat: {
    path: '/v1/chat/completions',
    family: 'general',
    tag: 'chat',
    endpointType: 'chat-completions',
    faces: [
      { path: '/v1/responses', family: 'general', tag: 'chat', endpointType: 'responses' },
      { path: '/v1/messages', family: 'messages', tag: 'chat', endpointType: 'messages' },
    ],
    description: 'Text model for chats',
    inputs: ['text', 'image'],
    outputs: ['text'],
    hasVoice: false,
    unit: 'token',
    limits: { required: ['maxOutputTokens'], optional: ['contextLength'] },
  },
  embeddings: {
    path: '/v1/embeddings',
    family: 'general',
    tag: 'embeddings',
    endpointType: 'embeddings',
    description: 'Vectors of texts, for search and comparison',
    inputs: ['text'],
    outputs: ['embeddings'],
    hasVoice: false,
    unit: 'token',
    limits: { required: [], optional: ['dimensions', 'maxInputTokens', 'maxInputs'] },
  },
  image: {
    path: '/v1/images/generations',
    family: 'general',
    tag: 'images',
    endpointType: 'image-generation',
    faces: [IMAGE_EDITS],
    description: 'Images from text',
    inputs: ['text'],
    outputs: ['image'],
    hasVoice: false,
    unit: 'request',
    limits: {
      required: ['sizes'],
      optional: ['qualities', 'backgrounds', 'outputFormats', 'maxN', 'maxEditImages'],
    },
  },
  video: {
    path: '/v1/videos',
    family: 'video',
    tag: 'videos',
    endpointType: 'compat-video',
    description: 'Videos from text and images',
    inputs: ['text', 'image'],
    outputs: ['video'],
    hasVoice: false,
    unit: 'video',
    limits: {
      required: ['maxImageUrls'],
      optional: ['sizePattern', 'aspectRatios', 'resolutions', 'audio', 'frames'],
    },
  },
  speech: {
    path: '/v1/audio/speech',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-speech',
    description: 'Speech from text',
    ...SPOKEN_TEXT,
  },
  dialogue: {
    path: '/v1/audio/dialogue',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-dialogue',
    description: 'Dialogues of several voices from text',
    ...SPOKEN_TEXT,
    limits: { required: ['maxInput'], optional: ['maxVoices'] },
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-transcription',
    description: 'Text of a recording',
    inputs: ['audio'],
    outputs: ['transcription'],
    ...RECORDING,
  },
  alignment: {
    path: '/v1/audio/alignment',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-alignment',
    description: 'Times of the words of a text in its recording',
    inputs: ['audio', 'text'],
    outputs: ['transcription'],
    ...RECORDING,
  },
  'voice-change': {
    path: '/v1/audio/voice-changer',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-voice-changer',
    description: 'Another voice for a recording',
    inputs: ['audio'],
    outputs: ['audio'],
    ...RECORDING,
    hasVoice: true,
  },
  isolation: {
    path: '/v1/audio/isolation',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-isolation',
    description: 'The voice of a recording without its noise',
    inputs: ['audio'],
    outputs: ['audio'],
    ...RECORDING,
  },
  'sound-effect': {
    path: '/v1/audio/sound-effects',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-sound-effects',
    description: 'Sound effects from text',
    ...SOUND_OF_A_LENGTH,
  },
  composition: {
    path: '/v1/audio/music',
    family: 'audio',
    tag: 'audio',
    endpointType: 'audio-music',
    description: 'Music from text',
    ...SOUND_OF_A_LENGTH,
    otherUnit: 'request',
  },
  dubbing: {
    path: '/v1/audio/dubbing',
    family: 'dubbing',
    tag: 'audio',
    endpointType: 'audio-dubbing',
    description: 'A recording in another language',
    inputs: ['audio'],
    outputs: ['audio'],
    ...RECORDING,
  },
  song: {
    path: '/v1/music/generations',
    family: 'song',
    tag: 'music',
    endpointType: 'music-generation',
    description: 'Songs, and work on songs',
    inputs: ['text', 'audio'],
    outputs: ['audio'],
    hasVoice: false,
    unit: 'request',
    limits: { required: ['shape'], optional: ['stemTypes'] },
  },
} as const satisfies Record<Operation, OperationRow>;

/** What the price of a model of this operation may count, the usual unit first. */
export function unitsOf(operation: Operation): readonly PriceRule['unit'][] {
  const { unit, otherUnit }: OperationRow = OPERATIONS[operation];
  return otherUnit === undefined ? [unit] : [unit, otherUnit];
}

/** The names of the operations, in the order of lists. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[];

/** The endpoints of an operation, its own first. */
export function endpointsOf(operation: Operation): readonly Endpoint[] {
  const { faces = [], ...own }: OperationRow = OPERATIONS[operation];
  return [own, ...faces];
}

/** The operation that is called at a path. */
export function operationAt(path: string): Operation | undefined {
  return OPERATION_NAMES.find((name) =>
    endpointsOf(name).some((endpoint) => endpoint.path === path),
  );
}

/** Families by the beginning of a path: of the operations' own paths, and below those of the folders that they share. */
const BEGINNINGS = beginnings();

/**
 * The API family of a request path. A path below that of an operation has the family of the operation, and one beside
 * it that of the first operation there; all others are general.
 */
export function apiFamilyOf(path: string): ApiFamily {
  return BEGINNINGS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'general';
}

function beginnings(): [beginning: string, family: ApiFamily][] {
  const rows = OPERATION_NAMES.flatMap(endpointsOf);
  const folders = new Map<string, ApiFamily>();
  for (const { path, family } of rows) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    if (folder !== '/v1/' && !folders.has(folder)) folders.set(folder, family);
  }
  return [...rows.map(({ path, family }): [string, ApiFamily] => [path, family]), ...folders];
}
