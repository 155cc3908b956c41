/** An amount and the position of the credit that it came from; null is paid money that does not expire. */
export interface Source {
  readonly credit: string | null;
  readonly amount: bigint;
}

interface Lot {
  readonly position: string;
  readonly isGranted: boolean;
  /** Microseconds; null: never. */
  expiresAt: bigint | null;
  remaining: bigint;
}

/** What is open: since when, in microseconds, and how much it holds. */
export interface OpenHold {
  readonly began: bigint;
  readonly amount: bigint;
}

const least = (...amounts: bigint[]): bigint => amounts.reduce((a, b) => (a < b ? a : b));
const order = (a: bigint | null, b: bigint | null): number => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
};

/** The kinds of the money of one account, in plain integers: a model of what the schema does, entry by entry. */
export class LotOracle {
  readonly lots: Lot[] = [];
  /** Paid money that does not expire. */
  paid = 0n;
  private readonly charges = new Map<string, { taken: Source[]; givenBack: bigint }>();

  get posted(): bigint {
    return this.lots.reduce((sum, lot) => sum + lot.remaining, this.paid);
  }

  credit(position: string, amount: bigint, isGranted: boolean, expiresAt: bigint | null): void {
    if (isGranted || expiresAt !== null) {
      this.lots.push({ position, isGranted, expiresAt, remaining: amount });
    } else this.paid += amount;
  }

  /** What a charge of a hold takes that began then. */
  charge(hold: string, amount: bigint, began: bigint): Source[] {
    const serves = (lot: Lot) => lot.expiresAt === null || lot.expiresAt > began;
    const lots = this.inOrder();
    const places = [...lots.filter(serves), null, ...lots.filter((lot) => !serves(lot))];
    const taken = this.take(places, amount);
    this.charges.set(hold, { taken, givenBack: 0n });
    return taken;
  }

  /** What an operator's correction takes. */
  correct(amount: bigint): Source[] {
    return this.take([null, ...this.inOrder().reverse()], amount);
  }

  expire(position: string, amount: bigint): Source[] {
    return this.take(
      this.lots.filter((lot) => lot.position === position),
      amount,
    );
  }

  /** What is given back of a charge returns to where it came from, the last part first. */
  giveBack(hold: string, amount: bigint): Source[] {
    const charge = this.charges.get(hold);
    if (charge === undefined) throw new Error(`${hold} was not charged`);
    let skip = charge.givenBack;
    let rest = amount;
    const given: Source[] = [];
    for (const { credit, amount: part } of [...charge.taken].reverse()) {
      const skipped = least(skip, part);
      skip -= skipped;
      const back = least(rest, part - skipped);
      rest -= back;
      if (back === 0n) continue;
      given.push({ credit, amount: back });
      const lot = this.lots.find(({ position }) => position === credit);
      if (lot === undefined) this.paid += back;
      else lot.remaining += back;
    }
    charge.givenBack += amount;
    return given;
  }

  /** Whether the charge took money that is followed. */
  hasTaken(hold: string): boolean {
    return this.charges.get(hold)?.taken.some(({ credit }) => credit !== null) ?? false;
  }

  /** What expires now: each open hold, the oldest first, keeps what it would spend. */
  due(now: bigint, open: readonly OpenHold[]): Source[] {
    const left = new Map(this.inOrder().map((lot) => [lot, lot.remaining]));
    for (const { began, amount } of [...open].sort((a, b) => order(a.began, b.began))) {
      let rest = amount;
      for (const [lot, room] of left) {
        if (lot.expiresAt !== null && lot.expiresAt <= began) continue;
        left.set(lot, room - least(room, rest));
        rest -= least(room, rest);
      }
    }
    let free = open.reduce((rest, { amount }) => rest - amount, this.posted);
    return [...left].flatMap(([{ position, expiresAt }, room]) => {
      const amount = expiresAt !== null && expiresAt <= now ? least(room, free) : 0n;
      free -= amount;
      return amount > 0n ? [{ credit: position, amount }] : [];
    });
  }

  private take(places: readonly (Lot | null)[], amount: bigint): Source[] {
    let rest = amount;
    const taken: Source[] = [];
    for (const place of places) {
      const part = least(rest, place === null ? this.paid : place.remaining);
      if (part === 0n) continue;
      rest -= part;
      if (place === null) this.paid -= part;
      else place.remaining -= part;
      taken.push({ credit: place?.position ?? null, amount: part });
    }
    if (rest > 0n) throw new Error(`${rest} are missing`);
    return taken;
  }

  /** Granted before paid, then what expires first. */
  private inOrder(): Lot[] {
    return [...this.lots].sort(
      (a, b) =>
        Number(b.isGranted) - Number(a.isGranted) ||
        order(a.expiresAt, b.expiresAt) ||
        order(BigInt(a.position), BigInt(b.position)),
    );
  }
}
