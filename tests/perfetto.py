"""A reader of Perfetto's traces, as far as refrain writes them: packets of protobuf, by field numbers."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """field number -> its values: numbers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        field, coded = key >> 3, key & 7
        if coded == 0:
            value, at = varint(data, at)
        elif coded == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif coded == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("cut short")
        else:
            raise ValueError(f"field {field} is coded in way {coded}")
        found.setdefault(field, []).append(value)
    return found


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def annotations(event, names, texts):
    found = {}
    for part in map(fields, event.get(4, [])):
        found[names[part[1][0]]] = texts[part[17][0]] if 17 in part else signed(part[4][0])
    return found


class Slice:
    def __init__(self, track, category, name, begin, facts, depth):
        self.track, self.category, self.name, self.begin, self.facts, self.depth = track, category, name, begin, facts, depth
        self.end, self.sends, self.receives = None, [], []


class Trace:
    """tracks: uuid -> (name, uuid of the parent or None); slices: of each track in their order, all ended."""

    def __init__(self, data):
        self.tracks, self.slices, self.times = {}, {}, {}
        interned, open_slices = {1: {}, 2: {}, 3: {}, 29: {}}, {}
        packets = fields(data)[1]
        for i, packet in enumerate(map(fields, packets)):
            if packet[10] != [1] or packet[13] != [3 if i == 0 else 2]:
                raise ValueError(f"packet {i} is of no sequence")
            for table in map(fields, packet.get(12, [])):
                for number, known in interned.items():
                    for entry in map(fields, table.get(number, [])):
                        if entry[1][0] in known:
                            raise ValueError("a name comes twice")
                        known[entry[1][0]] = entry[2][0].decode()
            for track in map(fields, packet.get(60, [])):
                self.tracks[track[1][0]] = (track[2][0].decode(), track.get(5, [None])[0])
            for event in map(fields, packet.get(11, [])):
                self.take(event, packet[8][0], interned, open_slices)
        if any(open_slices.values()):
            raise ValueError("slices without an end")

    def take(self, event, time, interned, open_slices):
        track = event[11][0]
        stack = open_slices.setdefault(track, [])
        slices = self.slices.setdefault(track, [])
        if time < self.times.get(track, 0):
            raise ValueError("time goes back")
        self.times[track] = time
        if event[9] == [1]:
            facts = annotations(event, interned[3], interned[29])
            new = Slice(track, interned[1][event[3][0]], interned[2][event[10][0]], time, facts, len(stack))
            new.sends = event.get(47, [])
            slices.append(new)
            stack.append(new)
        else:
            ended = stack.pop()
            ended.end, ended.receives = time, event.get(48, [])
            ended.facts.update(annotations(event, interned[3], interned[29]))
