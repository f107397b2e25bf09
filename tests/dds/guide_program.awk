# awk -v number=N -f guide_program.awk GUIDE: the guide's Nth program, a block of code that begins with an #include.
/^```/ {
  if (inside && count == number) exit
  inside = !inside && $0 == "```cpp"
  first = inside
  next
}
first {
  if (/^#include/) count++; else inside = 0
  first = 0
}
inside && count == number
