/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What an XML parser, which is none of ours, finds in a diagram. */
#ifndef SVG_H
#define SVG_H

#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SVG_CONDITIONS_MAX 8

static const char svg_script[] =
	"import sys\n"
	"from xml.etree import ElementTree\n"
	"svg = '{http://www.w3.org/2000/svg}'\n"
	"root = ElementTree.parse(sys.argv[1]).getroot()\n"
	"assert root.tag == svg + 'svg', root.tag\n"
	"width, height = int(root.get('width')), int(root.get('height'))\n"
	"lines = []\n"
	"for line in root.iter(svg + 'polyline'):\n"
	"    points = [point.split(',') for point in line.get('points').split()]\n"
	"    lines.append([(float(x), 420 - float(y)) for x, y in points])\n"
	"    assert all(0 < x < width and 0 <= y < height for x, y in lines[-1]), lines\n"
	"lengths = [len(line) for line in lines]\n"
	"texts = [text.text for text in root.iter(svg + 'text')]\n"
	"def near(a, b):\n"
	"    return abs(a - b) < 0.5\n"
	"def even(values):\n"
	"    steps = [b - a for a, b in zip(values, values[1:])]\n"
	"    return all(near(step, steps[0]) for step in steps)\n"
	"for condition in sys.argv[2:]:\n"
	"    assert eval(condition), (condition, lines, texts)\n";

/* Conditions up to NULL. */
static inline bool svg_all(const char *path, const char *const *conditions)
{
	const char *argv[SVG_CONDITIONS_MAX + 5] = { "python3", "-c", svg_script, path };
	int argc = 4, status = -1;
	pid_t pid;

	while (*conditions && argc < SVG_CONDITIONS_MAX + 4)
		argv[argc++] = *conditions++;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ))
		return false;
	return waitpid(pid, &status, 0) == pid && !status;
}

/*
 * Whether a file is SVG of which conditions hold in Python, over
 * lines: of each polyline the points, from the left and from where the axes meet
 * lengths: points of each
 * texts: labels and legend
 * near(a, b), even(values): as far as pixels can tell
 */
#define svg_holds(path, ...) svg_all(path, (const char *const []){ __VA_ARGS__, NULL })

#endif /* SVG_H */
