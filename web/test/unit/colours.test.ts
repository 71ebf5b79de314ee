import { describe, expect, it } from 'vitest';
import type { MeterName } from '../../src/api';
import { OTHERS, coloursOf, coloursTogether } from '../../src/colours';

const names = (...numbers: number[]): MeterName[] => numbers.map((number): MeterName => `${number}`);

describe('a meter’s colour', () => {
  it('follows from its number, not from its rank', () => {
    const all = coloursOf(names(257, 258, 259, 260));
    expect(coloursTogether(names(260, 258), all)).toEqual(coloursTogether(names(258, 260), all));
    for (const name of names(258, 260)) expect(coloursTogether([name], all).get(name)).toBe(all.get(name));
    expect(coloursOf(names(258, 300)).get('258')).toBe(all.get('258'));
  });

  it('is another one than that of each meter beside it', () => {
    for (const shown of [names(257, 258, 259, 260, 261, 262, 263), names(7, 14, 21, 28, 35, 42, 49, 56), ['258', '7-258', '14-258'] as MeterName[]]) {
      const all = coloursOf([...shown, ...names(1, 2, 3, 4, 5, 6, 70, 77)]);
      expect(new Set(coloursTogether(shown, all).values()).size).toBe(shown.length);
      expect(new Set(coloursOf(shown).values()).size).toBe(shown.length);
    }
  });

  it('is one of those that there are', () => {
    const many = names(...Array.from({ length: 500 }, (_, i) => 3 * i + 1));
    for (const colour of coloursOf(many).values()) expect(colour >= 1 && colour < OTHERS).toBe(true);
    expect([...coloursOf(names(...Array.from({ length: 8 }, (_, i) => i + 1))).values()]).toContain(OTHERS);
  });
});
