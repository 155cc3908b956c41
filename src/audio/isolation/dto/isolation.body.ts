import { recordingBody } from '../../recording.body.js';

/** Body (API: POST /v1/audio/isolation). */
export class IsolationBody extends recordingBody('aud-voice-isolator') {}
