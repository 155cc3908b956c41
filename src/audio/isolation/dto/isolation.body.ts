import { recordingBody } from '../../recording.body.js';

/** Body of POST /v1/audio/isolation (spec: same heading). */
export class IsolationBody extends recordingBody('aud-voice-isolator') {}
